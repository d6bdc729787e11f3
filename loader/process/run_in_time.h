// SPDX-License-Identifier: GPL-3.0-or-later
// run_in_time: what may take for ever, because it is another process's to give. Pages that
// userfaultfd(2) or a FUSE file system fill come when somebody wants them to; so do files of a FUSE
// file system; and who waits for such a page may hold the lock of the mappings, without which the
// kernel tells neither what they are (up to Linux 6.16) nor what the command line is.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace auger {

// Runs `work`, which waits for nobody but the process `pid`, in another thread, which is kept for
// the next time, and waits a tenth of a second; longer, up to two seconds, as long as the thread
// waits for nothing but a CPU. Where no thread is still out for the same user it waits for so many
// tenths of a second at least, and up to two seconds where more threads are runnable than there are
// CPUs (turns_of_patience()). False: it is not done, or so many have not been for the process, its
// user or all together that nothing is begun any more, or no thread can be made. Then `work` may
// still run, so it owns all that it uses. The end of this process ends it. From any thread; `work`
// may call it, too.
bool run_in_time(pid_t pid, std::function<void()> work, int tenths = 1);

// The same for what has a result; nothing: it is not done.
template <typename Work>
auto result_in_time(pid_t pid, Work work, int tenths = 1) -> std::optional<decltype(work())> {
    const auto result = std::make_shared<std::optional<decltype(work())>>(); // of both threads
    const bool done = run_in_time(
        pid, [result, work] { result->emplace(work()); }, tenths);
    return done ? std::move(*result) : std::nullopt;
}

// What honest processes need as well: one that forks holds the lock of its mappings until all is
// copied, and a disk may have to be woken.
constexpr int tenths_for_mappings = 20, tenths_for_files = 50;

// Threads that may be out at once.
constexpr int most_out_of_process = 4, most_out_of_user = 16, most_out = 64;

// How many tenths of a second are waited where so many threads are runnable, by the text of
// /proc/loadavg: as many as there are of them for each CPU, from 1 to 20.
int turns_of_patience(const std::string& loadavg, long cpus);

} // namespace auger
