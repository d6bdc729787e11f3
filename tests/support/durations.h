// SPDX-License-Identifier: GPL-3.0-or-later
// Units of durations, in nanoseconds.
#pragma once

#include <cstdint>

namespace auger {

inline constexpr uint64_t us = 1'000, ms = 1'000'000;

} // namespace auger
