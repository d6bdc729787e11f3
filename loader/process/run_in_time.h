// SPDX-License-Identifier: GPL-3.0-or-later
// run_in_time: what may take for ever, because the memory that it reads is its owner's to give:
// pages that userfaultfd(2) or a FUSE file system fill come when another process wants them to.
#pragma once

#include <functional>
#include <string>

namespace auger {

// Runs `work` in another thread, which is kept for the next time, and waits a tenth of a second;
// longer, up to two seconds, as long as the thread waits for nothing but a CPU, or where more
// threads are runnable than there are CPUs (turns_of_patience()) and no earlier one is still out.
// False: it is not done, or so many have not been that nothing is begun any more, or no thread can
// be made. Then `work` may still run, so it owns all that it uses. The end of this process ends it.
bool run_in_time(std::function<void()> work);

// How many tenths of a second are waited where so many threads are runnable, by the text of
// /proc/loadavg: as many as there are of them for each CPU, from 1 to 20.
int turns_of_patience(const std::string& loadavg, long cpus);

} // namespace auger
