// SPDX-License-Identifier: GPL-3.0-or-later
// What each thread's time was spent on.
#pragma once

#include "views/model/fold.h"

#include <span>
#include <string>
#include <vector>

namespace auger {

struct ThreadSum {
    MachineId machine;
    uint32_t pid = 0, tid = 0;
    std::string comm; // its latest, raw
    SampleSum sum;
};

// Of sums by ThreadId: a thread that changed its name is one thread. By time, the longest first.
std::vector<ThreadSum> merge_threads(const Model&, std::span<const SampleSum> by_thread);
// Of the samples of a class within the window.
std::vector<ThreadSum> sum_threads(const Model&, const Window&, const ClassFilter&);
// The time that a window's weights stand for, ns, from the first sample that is kept on: all of it
// is 100 % of a thread that always ran.
double covered_ns(const Model&, const Window&, uint64_t now_ns);

} // namespace auger
