// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_readers.h"

#include "loader/process/confined_memory.h"
#include "loader/symbols/debuginfod.h"

#include <utility>

namespace auger {

Result<SymbolizerOptions> symbolizer_options(const LiveOptions& options) {
    SymbolizerOptions symbols;
    symbols.readers = options.readers;
    if (!symbols.readers) {
        auto readers = ConfinedProcesses::start(reader_program());
        if (!readers)
            return readers.error();
        symbols.readers = *std::move(readers);
    }
    if (options.debuginfod) {
        auto fetching = ConfinedProcesses::start(networked_reader_program());
        if (!fetching)
            return fetching.error();
        auto debuginfod = Debuginfod::open(*std::move(fetching));
        if (!debuginfod)
            return debuginfod.error();
        symbols.debuginfod = *std::move(debuginfod);
    }
    return symbols;
}

ReaderStatus status_of(ConfinedProcesses& readers) {
    ReaderStatus status;
    status.limit = confined_memory_limit(most_confined_memory);
    for (const ConfinedMemory& memory : readers.memory()) {
        ReaderStatus::Service& service = status.services[memory.service];
        service.processes++;
        service.bytes += memory.bytes;
    }
    return status;
}

} // namespace auger
