// SPDX-License-Identifier: GPL-3.0-or-later
// elfutils' client library, loaded when somebody asks for it: it brings some thirty others along.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <elfutils/debuginfod.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace auger {

class DebuginfodLibrary {
  public:
    // False: end the transfer. In the thread that fetches.
    using Progress = std::function<bool(uint64_t done, uint64_t total)>;

    // Fails when it is not installed.
    static Result<DebuginfodLibrary> load();

    // Open for reading only.
    Result<UniqueFd> fetch(const std::string& build_id, const Progress& progress) const;

  private:
    DebuginfodLibrary() = default;

    decltype(&debuginfod_begin) begin_ = nullptr;
    decltype(&debuginfod_end) end_ = nullptr;
    decltype(&debuginfod_find_debuginfo) find_debuginfo_ = nullptr;
    decltype(&debuginfod_set_progressfn) set_progressfn_ = nullptr;
};

} // namespace auger
