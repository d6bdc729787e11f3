// SPDX-License-Identifier: GPL-3.0-or-later
// HotspotProcesses: which processes run HotSpot: what walks need of each, in the kernel, and what
// names need. It is in the process, not in its file, and comes while HotSpot starts.
#pragma once

#include "bpf/wire/hotspot.h"
#include "loader/base/result.h"
#include "loader/kernel/hotspot_names.h"

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace auger {

class HotspotProcesses {
  public:
    HotspotProcesses(int processes_fd, HotspotNames& names)
        : processes_fd_(processes_fd), names_(names) {}

    // Where HotSpot's tables lie in a process.
    struct Tables {
        uint64_t structs = 0;
        uint64_t types = 0;
        friend bool operator==(const Tables&, const Tables&) = default;
    };
    // Those of one user, but for root: processes only say that they run HotSpot, and there is room
    // for so many.
    static constexpr size_t most_of_user = WIRE_HOTSPOT_PROCESSES / 4;

    // find_thread_place() of Thread::_thr_current.
    using Search = std::function<Result<std::optional<wire_thread_place>>(bool& is_late)>;
    // The process has them since it has executed its program. As wire_unwind_process::hotspot has
    // it; 0: it is starting, and is looked at again when starting() says so. Fails when it is not
    // known, and will hardly be. `search` is asked once HotSpot has started.
    Result<uint32_t> set(pid_t pid, uint64_t executed_ns, const Tables& tables, uint64_t now_ns,
                         const Search& search);
    // It has none any more.
    void end(pid_t pid, uint64_t now_ns);
    // What walks know of the process; null: nothing.
    const wire_hotspot* known(pid_t pid) const;
    // How its virtual threads are told; thread.way 0: they are not.
    wire_virtual_threads virtual_threads(pid_t pid) const;
    // The process that is to be looked at again by now, if there is one: of several the one that
    // has been for the fewest times. All that takes a tenth of the time at most.
    std::optional<pid_t> starting(uint64_t now_ns) const;

  private:
    struct Process {
        uint64_t executed_ns = 0;
        Tables tables;
        std::shared_ptr<const HotspotLayout> layout; // null: it is starting, or is not known
        wire_thread_place thread{};                  // of Thread::_thr_current; way 0: not known
        uint32_t number = 0;                         // in the kernel's table, and 1; 0: it has none
        uid_t user = 0;                              // who has the number
        std::optional<Error> given_up{};
        uint64_t again_ns = 0; // when it is looked at again, and how long that is
        uint64_t pause_ns = 0;
        int late = 0; // looks that it let us wait for
    };

    // Nothing: its memory could not be read in time.
    std::optional<Result<HotspotLayout>> read(pid_t pid, const Tables& tables);
    static Result<uint32_t> look_again(Process& process, const Error& problem, uint64_t now_ns);
    bool enter(Process& process, pid_t pid, const wire_hotspot& walk, uint64_t now_ns);
    uint32_t new_number(uint64_t now_ns);
    void release(Process& process, uint64_t now_ns);

    int processes_fd_;
    HotspotNames& names_;
    std::unordered_map<pid_t, Process> processes_;
    uint64_t looks_from_ns_ = 0;
    std::map<uid_t, size_t> numbers_of_;                     // how many users but root have
    uint32_t numbers_ = 0;                                   // that were ever in use
    std::deque<std::pair<uint64_t, uint32_t>> free_numbers_; // from when on, number
};

} // namespace auger
