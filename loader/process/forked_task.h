// SPDX-License-Identifier: GPL-3.0-or-later
// ForkedTask: work on a snapshot of this process. A forked child has all of its memory as it is at
// that moment, so it can write out what was collected, however long that takes, while events,
// keys and edits go on here. It has none of its descriptors, so nothing of auger's in the kernel
// lives on in it, it ends when auger does, and it has no rights: under sudo it is the invoking
// user's; else it has no capabilities (but the one by which root makes files in others' folders, if
// it is to make any), and opens no files if it is to make none.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <functional>

namespace auger {

struct ForkedLimits {
    uint64_t file_bytes = uint64_t{1} << 30; // of each file that it writes, its result included
    uint64_t cpu_seconds = 120;
    bool makes_files = false; // by their names, beside its result
};

class ForkedTask {
  public:
    // What the child does; `out` is a file in memory, which the result is written to. Threads other
    // than the calling one do not exist there, so whatever they hold locked stays locked: memory
    // may be allocated, but nothing may be asked of them.
    using Work = std::function<Result<void>(int out)>;

    // `name`: as in ps, at most 15 bytes.
    static Result<ForkedTask> start(const char* name, const Work& work,
                                    const ForkedLimits& limits = {});
    ForkedTask(ForkedTask&&) = default;
    ForkedTask& operator=(ForkedTask&&) = delete;
    ~ForkedTask(); // kills a child that still runs

    // Readable when it has ended.
    int wake_fd() const { return process_.get(); }
    bool ended() const;
    // What it wrote, from its beginning, or what it failed of. Waits for its end; once only.
    Result<UniqueFd> take();
    // CPU time that it took; once it was taken.
    uint64_t cpu_ns() const { return cpu_ns_; }

  private:
    ForkedTask(UniqueFd process, UniqueFd out)
        : process_(std::move(process)), out_(std::move(out)) {}

    UniqueFd process_; // a pidfd; empty: collected
    UniqueFd out_;
    uint64_t cpu_ns_ = 0;
};

} // namespace auger
