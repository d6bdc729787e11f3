// SPDX-License-Identifier: GPL-3.0-or-later
// RubyProcesses: which processes run which Ruby: what walks need of it, in the kernel, and what
// names need. Where threads keep their contexts is the dynamic linker's note in the process, which
// comes while the program starts.
#pragma once

#include "loader/base/result.h"
#include "loader/kernel/ruby_names.h"
#include "loader/process/file_owner.h"
#include "loader/runtimes/ruby/layout.h"
#include "loader/values/thread_place.h"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

namespace auger {

class RubyProcesses {
  public:
    RubyProcesses(int layouts_fd, RubyNames& names) : layouts_fd_(layouts_fd), names_(names) {}

    // The number under which walks find the layout of a file's Ruby. Fails when it is of a version
    // that is not known, or when there are too many.
    Result<uint32_t> enter(const RubyFile& file, const FileOwner& owner);

    // A file's Ruby in a process, which runs it since it has executed its program.
    struct Use {
        uint64_t executed_ns = 0;
        uint32_t number = 0; // of the layout
        uint64_t bias = 0;   // how far from where it is linked it lies
        friend bool operator==(const Use&, const Use&) = default;
    };
    // find_thread_place() of ruby_current_ec.
    using Search = std::function<Result<std::optional<wire_thread_place>>(bool& is_late)>;
    // Where its threads have their contexts. Nothing: it is too early, and the process is looked at
    // again when starting() says so. Fails when it will not be known.
    Result<std::optional<wire_thread_place>> set(pid_t pid, const Use& use, const RubyFile& file,
                                                 uint64_t now_ns, const Search& search);
    // It runs none any more.
    void end(pid_t pid);
    // It will not be known where the process's threads have their contexts.
    bool gave_up(pid_t pid) const;
    // A process that is to be looked at again by now, if there is one.
    std::optional<pid_t> starting(uint64_t now_ns) const;

  private:
    struct Process {
        Use use;
        std::optional<wire_thread_place> place{};
        std::optional<Error> given_up{};
        uint64_t again_ns = 0; // when it is looked at again, and how long that is
        uint64_t pause_ns = 0;
        int late = 0; // looks that it let us wait for
    };

    int layouts_fd_;
    RubyNames& names_;
    RubyLayoutTable layouts_;
    std::unordered_map<pid_t, Process> processes_;
};

} // namespace auger
