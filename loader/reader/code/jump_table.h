// SPDX-License-Identifier: GPL-3.0-or-later
// jumps_through_table: does an indirect jump stay in its function (a switch, a computed goto), or
// is it a tail call through a pointer? In doubt the answer is "tail call": it becomes an exit, and
// the kernel side ignores an exit where the stack is not as it was at the entry.
#pragma once

#include "loader/reader/code/decoder.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace auger {

bool jumps_through_table(
    std::span<const Instruction> code, size_t jump,
    const std::function<bool(uint64_t address)>& inside,
    const std::function<std::vector<std::byte>(uint64_t address, size_t size)>& read_data);

} // namespace auger
