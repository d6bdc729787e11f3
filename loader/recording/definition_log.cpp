// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/definition_log.h"

#include "loader/recording/record_decoder.h"

namespace auger {

size_t DefinitionLog::bytes() const {
    size_t bytes = encoder_.bytes().size();
    for (const auto* by_id : {&stacks_, &threads_})
        for (const std::string& definition : *by_id)
            bytes += definition.size();
    return bytes;
}

size_t DefinitionLog::memory_bytes() const {
    return encoder_.bytes().capacity() + by_id_bytes_ +
           (stacks_.capacity() + threads_.capacity()) * sizeof(std::string);
}

void DefinitionLog::replay(EventSink& sink) const {
    RecordDecoder decoder;
    const auto deliver = [&](std::string_view block) {
        decoder.start_block(block);
        while (decoder.step(sink, UINT64_MAX) == RecordDecoder::Step::delivered)
            ;
    };
    deliver(encoder_.bytes());
    for (const auto* by_id : {&stacks_, &threads_})
        for (const std::string& definition : *by_id)
            deliver(definition);
    for (const auto& [id, probe] : probes_)
        sink.on_probe(probe);
    sink.on_split(split_);
    sink.on_only(only_);
}

} // namespace auger
