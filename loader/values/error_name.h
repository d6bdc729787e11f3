// SPDX-License-Identifier: GPL-3.0-or-later
// Names of error numbers, as errno(3) has them.
#pragma once

#include <cstdint>
#include <string>

namespace auger {

inline constexpr int last_error_number = 133; // of x86-64 Linux

// `EAGAIN` by its number; empty: there is none.
std::string error_name(int64_t number);

} // namespace auger
