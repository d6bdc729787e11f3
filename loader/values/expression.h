// SPDX-License-Identifier: GPL-3.0-or-later
// The language of values and predicates as a tree: what was written, and where. Nothing is known
// here of a target; whether a name means anything is found by the compiler.
#pragma once

#include "loader/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

enum class ComparisonOperator : uint8_t {
    equal,
    unequal,
    less,
    less_equal,
    greater,
    greater_equal
};

enum class ArithmeticOperator : uint8_t {
    add,
    subtract,
    multiply,
    divide,
    modulo,
    bit_and,
    bit_or,
    shift_left,
    shift_right
};

// Of a cast, without `const` and `volatile`: "struct request", "unsigned long", "ns::map<int,
// int>".
struct TypeName {
    std::string text{};
    unsigned pointers = 0; // how many * follow it
};

struct Expression {
    enum class Kind : uint8_t {
        name,       // `text`
        number,     // `number`
        string,     // `text`; of one character it may be compared with a number
        member,     // `text` of operands[0]: a->b and a.b
        pointee,    // *operands[0]
        element,    // operands[0][operands[1]]
        address,    // &operands[0]
        cast,       // (`type`)operands[0]
        arithmetic, // operands[0] `arithmetic` operands[1], of which one is not a number
        string_at,  // str(operands[0])
        go_label,   // golabel("`text`")
        comparison, // operands[0] `comparison` operands[1]
        negation,   // not operands[0]
        all,        // every operand holds
        any,        // some operand does
    };

    Kind kind = Kind::name;
    Error::Range at{};      // in the text, of the whole expression
    Error::Range name_at{}; // of a member's own name, or a cast's type
    std::string text{};
    // As two's complement in 64 bits: `negative` tells -1 from 0xffffffffffffffff.
    uint64_t number = 0;
    bool negative = false;
    bool hexadecimal = false;
    ComparisonOperator comparison = ComparisonOperator::equal;
    ArithmeticOperator arithmetic = ArithmeticOperator::add;
    TypeName type{};
    std::vector<std::unique_ptr<Expression>> operands{};

    // Whether it says yes or no, and is not a value.
    bool condition() const { return kind >= Kind::comparison; }
};

using ExpressionPointer = std::unique_ptr<Expression>;

// The subject of an error is the text, with a range in it.
Result<ExpressionPointer> parse_expression(std::string_view text);

Error expression_error(std::string_view text, Error::Range at, std::string cause,
                       std::string hint = {});

} // namespace auger
