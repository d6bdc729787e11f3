// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace auger {

// What a thread's sampling clock costs each time that it is stopped and started, in ns: `cheap`, or
// `dear` where it would be the next to tick on its CPU. It would for a share of what it counts
// (`share`); dear ones make it count more, so that they are fewer than that. It counts what the
// thread executes and, as the kernel stops it before its timer and starts it after, the half of
// what it costs itself. With x, what the thread executes each time,
//     dear ones / cheap ones = share / (x + dear / 2) : (1 - share) / (x + cheap / 2),
// and the thread goes for `mean` at a time, x and the cost.
double clock_cost(double mean, double cheap, double dear, double share);

} // namespace auger
