// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/definition_log.h"

#include "loader/recording/record_decoder.h"

namespace auger {

void DefinitionLog::replay(EventSink& sink) const {
    RecordDecoder decoder;
    decoder.start_block(encoder_.bytes());
    while (decoder.step(sink, UINT64_MAX) == RecordDecoder::Step::delivered)
        ;
    for (const auto& [id, probe] : probes_)
        sink.on_probe(probe);
    sink.on_split(split_);
    sink.on_only(only_);
}

} // namespace auger
