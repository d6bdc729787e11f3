// SPDX-License-Identifier: GPL-3.0-or-later
// read_function: the code of one function of a module, ready to be decoded.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/elf/function_index.h"
#include "loader/reader/matching/probe_match.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace auger {

inline constexpr uint64_t function_size_limit = uint64_t{8} << 20; // bytes; none is larger

// Its bytes, from the first to the last that is code. Fails when the file that is run does not
// confirm that the function is there, when its end cannot be told, or beyond 8 MB.
Result<std::vector<std::byte>> read_function(const ProbeModule& module,
                                             const FunctionIndex::Function& function);

} // namespace auger
