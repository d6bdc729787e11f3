// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/fold_numbers.h"

#include <optional>

namespace auger {
namespace {

using Wide = __int128;

Wide wide(const Expression& number) {
    return number.negative ? Wide{static_cast<int64_t>(number.number)} : Wide{number.number};
}

uint64_t magnitude(Wide number) {
    return static_cast<uint64_t>(number < 0 ? -number : number);
}

// Nothing when it does not fit.
std::optional<Wide> product(Wide left, Wide right) {
    uint64_t value;
    if (__builtin_mul_overflow(magnitude(left), magnitude(right), &value))
        return std::nullopt;
    return (left < 0) != (right < 0) ? -Wide{value} : Wide{value};
}

std::optional<Wide> apply(ArithmeticOperator operation, Wide left, Wide right) {
    switch (operation) {
    case ArithmeticOperator::add:
        return left + right;
    case ArithmeticOperator::subtract:
        return left - right;
    case ArithmeticOperator::multiply:
        return product(left, right);
    case ArithmeticOperator::divide:
        return left / right;
    case ArithmeticOperator::modulo:
        return left % right;
    case ArithmeticOperator::bit_and:
        return left & right;
    case ArithmeticOperator::bit_or:
        return left | right;
    case ArithmeticOperator::shift_left:
        return product(left, Wide{1} << right);
    case ArithmeticOperator::shift_right:
        return left >> right;
    }
    return std::nullopt;
}

Error wrong_number(std::string cause, std::string hint = {}) {
    return {{}, {}, std::move(cause), std::move(hint), Error::Kind::usage};
}

} // namespace

Result<ExpressionPointer> fold_numbers(ArithmeticOperator operation, const Expression& left,
                                       const Expression& right) {
    const bool shifts =
        operation == ArithmeticOperator::shift_left || operation == ArithmeticOperator::shift_right;
    if (shifts && (right.negative || right.number > 63))
        return wrong_number("shifts by something that is not a number of bits", "0 to 63 are");
    const bool divides =
        operation == ArithmeticOperator::divide || operation == ArithmeticOperator::modulo;
    if (divides && right.number == 0)
        return wrong_number("divides by zero");
    const auto value = apply(operation, wide(left), wide(right));
    if (!value || *value < Wide{INT64_MIN} || *value > Wide{UINT64_MAX})
        return wrong_number("does not fit into 64 bits");
    auto made = std::make_unique<Expression>();
    made->kind = Expression::Kind::number;
    made->number = static_cast<uint64_t>(*value);
    made->negative = *value < 0;
    made->hexadecimal = left.hexadecimal || right.hexadecimal;
    return made;
}

} // namespace auger
