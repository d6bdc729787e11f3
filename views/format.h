// SPDX-License-Identifier: GPL-3.0-or-later
// Quantities for people: three significant digits and a unit.
#pragma once

#include "loader/stream/events.h"
#include "views/model/window.h"

#include <string>

namespace auger {

std::string format_duration(double ns);   // "456 us", "1.23 ms", "12.3 s", "1 h 02 min"
std::string format_count(double count);   // "12,345"; fractional counts are rounded
std::string format_percent(double share); // 0.1234 -> "12.3 %"; never "0 %" or "100 %" when not so
std::string format_bytes(double bytes);   // "63.4 MB" (powers of 1000)
std::string format_rate(double hz);       // "998.7 Hz"
std::string format_threshold(const Threshold&); // "> p95", "> 10.0 ms", "" when none
// "all", "last 10.0 s", "ewma 10.0 s until +17.5 s" (since first_ns).
std::string format_window(const Window&, uint64_t first_ns);

} // namespace auger
