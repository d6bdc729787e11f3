// SPDX-License-Identifier: GPL-3.0-or-later
// Memory to unpack a file's symbols into. Who unpacks cannot make any, nor make it larger.
#pragma once

#include "loader/base/fd.h"

#include <cstdint>

namespace auger {

inline constexpr uint64_t unpack_limit = uint64_t{64} << 20; // bytes

// A file in memory, of that size for ever; empty when there is no room.
UniqueFd unpack_memory();

} // namespace auger
