// SPDX-License-Identifier: GPL-3.0-or-later
// The panes beside the flame. `unicode`: false for ASCII only.
#pragma once

#include "views/screen/pane.h"

#include <memory>

namespace auger {

// What slow calls do that fast ones do not, per call, and how sure that is.
std::unique_ptr<Pane> make_difference_pane(bool unicode);
// Durations of a timed function's calls, with percentiles and thresholds.
std::unique_ptr<Pane> make_histogram_pane(bool unicode);
// The slow calls that were traced, and one of them in full.
std::unique_ptr<Pane> make_calls_pane(bool unicode);
// Functions by their own and their total time; callers and callees of one.
std::unique_ptr<Pane> make_table_pane(bool unicode);
// Threads, and what each one's time was spent on.
std::unique_ptr<Pane> make_threads_pane(bool unicode);
// Samples and slow calls over the last minutes, in few rows.
std::unique_ptr<Pane> make_strip_pane(bool unicode);

} // namespace auger
