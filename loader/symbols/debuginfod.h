// SPDX-License-Identifier: GPL-3.0-or-later
// Debuginfod: debug information from servers, by build id, through elfutils' client library, which
// keeps what it fetched on disk. A process of its own holds the library: it has the network and
// that cache, and no capabilities. Only for users who ask for it: the servers learn what is
// observed here.
#pragma once

#include "loader/base/result.h"
#include "loader/process/confined_process.h"
#include "loader/symbols/debug_files.h"
#include "loader/symbols/progress.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace auger {

// What such a process does, and its name.
inline constexpr const char* debuginfod_service = "debuginfo";

struct DebuginfodLimits {
    std::chrono::seconds time{120};     // for one file
    uint64_t bytes = uint64_t{4} << 30; // of one file
};

class Debuginfod {
  public:
    // `readers`: of networked_reader_program(). Fails when no server is named by DEBUGINFOD_URLS, or
    // the library is missing. Nothing is asked yet.
    static Result<std::unique_ptr<Debuginfod>> open(std::shared_ptr<ConfinedProcesses> readers,
                                                    DebuginfodLimits limits = {});

    // What is said to be the file with the debug information of a build id (lower-case
    // hexadecimal), from disk or from a server. Waits for it, tells `progress`, and ends soon when
    // that is stopped. By one thread.
    Result<DebugFile> fetch(const std::string& build_id, WorkProgress& progress);

  private:
    Debuginfod(std::shared_ptr<ConfinedProcesses> readers, DebuginfodLimits limits)
        : readers_(std::move(readers)), limits_(limits) {}
    Result<void> begin();

    std::shared_ptr<ConfinedProcesses> readers_;
    const DebuginfodLimits limits_;
    std::optional<ConfinedProcess> process_;
};

} // namespace auger
