// SPDX-License-Identifier: GPL-3.0-or-later
// From an instruction of Ruby's to its line: bodies of code have entries in the order of their
// positions, and an index of these (succ_index_table in Ruby's iseq.c).
#pragma once

#include "loader/runtimes/ruby/objects.h"

#include <cstdint>
#include <vector>

namespace auger {

inline constexpr uint32_t most_ruby_line = 0x0fffffff; // beyond it is none

// From `position` (in words) on.
struct RubyLine {
    uint32_t position, line;
    friend bool operator==(const RubyLine&, const RubyLine&) = default;
};
using RubyLines = std::vector<RubyLine>;

// Of the code whose body is at the address, with `size` words of instructions; in the order of
// positions. Empty when it has none, or more than is believed.
RubyLines read_ruby_lines(RubyMemory& ruby, uint64_t body, uint32_t size);

// The line of the instruction that ends at a position, as Ruby counts: positions stand behind the
// instruction that calls. 0: not known.
uint32_t ruby_line(const RubyLines& lines, uint32_t position);

} // namespace auger
