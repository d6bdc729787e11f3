// SPDX-License-Identifier: GPL-3.0-or-later
// Debuginfod: debug information from servers, by build id, through elfutils' client library, which
// keeps what it fetched on disk. Only for users who ask for it: the servers learn what is observed
// here, and what they answer is kept and read with auger's rights.
#pragma once

#include "loader/base/result.h"
#include "loader/symbols/debug_files.h"
#include "loader/symbols/progress.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace auger {

struct DebuginfodLimits {
    std::chrono::seconds time{120};     // for one file
    uint64_t bytes = uint64_t{4} << 30; // of one file
};

class Debuginfod {
  public:
    // Fails when no server is named by DEBUGINFOD_URLS, or the library is missing. Nothing is asked
    // yet.
    static Result<std::unique_ptr<Debuginfod>> open(DebuginfodLimits limits = {});
    ~Debuginfod();
    Debuginfod(const Debuginfod&) = delete;
    Debuginfod& operator=(const Debuginfod&) = delete;

    // What is said to be the file with the debug information of a build id (lower-case
    // hexadecimal), from disk or from a server. Waits for it, tells `progress`, and ends soon when
    // that is stopped.
    Result<DebugFile> fetch(const std::string& build_id, WorkProgress& progress);

  private:
    struct Library;
    Debuginfod(std::unique_ptr<Library> library, DebuginfodLimits limits);

    std::unique_ptr<Library> library_;
    DebuginfodLimits limits_;
};

} // namespace auger
