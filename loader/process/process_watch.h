// SPDX-License-Identifier: GPL-3.0-or-later
// ProcessWatch: births, executions, mappings and ends of all processes as events, from one software
// dummy perf event per CPU. Needs CAP_PERFMON (or root). No polling of /proc.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/process/perf_record.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace auger {

class ProcessWatch {
  public:
    // `ring_pages` per CPU, a power of two. Offline CPUs are left out. Fails without the privilege.
    static Result<ProcessWatch> make(size_t ring_pages = 64);
    ProcessWatch(ProcessWatch&&) noexcept;
    ProcessWatch& operator=(ProcessWatch&&) noexcept;
    ~ProcessWatch();

    // For an outer epoll: readable when some ring has records.
    int fd() const { return epoll_.get(); }
    // Hands over all events that wait, oldest first across CPUs. Returns their number. An event of
    // kind `lost` means that mappings may be missing: rescan /proc.
    size_t poll(const std::function<void(const ProcessEvent&)>& handler);

    uint64_t lost() const { return lost_; }           // records that the kernel dropped
    uint64_t malformed() const { return malformed_; } // records that did not decode
    size_t cpus() const;

  private:
    class Ring;
    ProcessWatch();

    UniqueFd epoll_;
    std::vector<Ring> rings_;
    std::vector<ProcessEvent> pending_;
    uint64_t lost_ = 0;
    uint64_t malformed_ = 0;
};

} // namespace auger
