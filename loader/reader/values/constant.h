// SPDX-License-Identifier: GPL-3.0-or-later
// What a value may be compared with: numbers, characters, and names that stand for a number.
#pragma once

#include "loader/reader/values/operand.h"
#include "loader/values/expression.h"

#include <cstdint>
#include <optional>
#include <string>

namespace auger {

struct Constant {
    uint64_t number = 0; // two's complement
    bool negative = false;
    // Written as a pattern of bits: 0xffffffff is -1 of an int.
    bool pattern = false;
};

// The number that an expression stands for beside this value; nothing when it is none.
std::optional<Constant> constant_for(const Expression& expression, const Operand& operand);

// Whether it stands for a constant beside any value.
bool is_literal(const Expression& expression);

// The number as the value would hold it; nothing when the value never is that number.
std::optional<uint64_t> as_held_by(const Operand& operand, const Constant& constant);

// "0 to 255"
std::string range_of(const Operand& operand);

} // namespace auger
