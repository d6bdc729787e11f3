// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/constant.h"

#include "loader/values/error_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace auger {
namespace {

Constant constant(int64_t number, bool pattern = false) {
    return {static_cast<uint64_t>(number), number < 0, pattern};
}

std::optional<Constant> error_number(const std::string& name) {
    if (name.starts_with('E'))
        for (int number = 1; number <= last_error_number; ++number)
            if (error_name(number) == name)
                return constant(number);
    // Two names of one number.
    if (name == "EWOULDBLOCK")
        return constant(EAGAIN);
    if (name == "ENOTSUP")
        return constant(EOPNOTSUPP);
    return std::nullopt;
}

// `red`, `Color::red`: the last component is the enumerator.
std::optional<Constant> enumerator(const ValueFormat& format, std::string_view name) {
    const size_t colon = name.rfind("::");
    const std::string_view last = colon == name.npos ? name : name.substr(colon + 2);
    for (const auto& [number, text] : format.names)
        if (text == last)
            return constant(number, true);
    return std::nullopt;
}

std::optional<Constant> of_name(const std::string& name, const Operand& operand) {
    if (operand.format.kind == ValueFormat::Kind::enumeration)
        if (auto found = enumerator(operand.format, name))
            return found;
    if (operand.format.kind == ValueFormat::Kind::error_number)
        if (auto found = error_number(name))
            return found;
    if (name == "true")
        return constant(1);
    if (name == "false" || name == "null" || name == "nullptr" || name == "NULL")
        return constant(0);
    return std::nullopt;
}

} // namespace

bool is_literal(const Expression& expression) {
    return expression.kind == Expression::Kind::number ||
           expression.kind == Expression::Kind::string ||
           (expression.kind == Expression::Kind::name && of_name(expression.text, {}));
}

std::optional<Constant> constant_for(const Expression& expression, const Operand& operand) {
    switch (expression.kind) {
    case Expression::Kind::number:
        return Constant{expression.number, expression.negative, expression.hexadecimal};
    case Expression::Kind::name:
        return of_name(expression.text, operand);
    case Expression::Kind::string:
        if (operand.is_string() || expression.text.size() != 1)
            return std::nullopt;
        return constant(static_cast<unsigned char>(expression.text[0]), true);
    default:
        return std::nullopt;
    }
}

std::optional<uint64_t> as_held_by(const Operand& operand, const Constant& constant) {
    const uint64_t bits = std::min<uint64_t>(operand.bits, 64);
    if (bits == 0)
        return std::nullopt;
    const uint64_t all = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    const uint64_t most = operand.is_signed() ? all >> 1 : all;
    if (constant.negative) {
        const auto least = static_cast<int64_t>(~most);
        return operand.is_signed() && static_cast<int64_t>(constant.number) >= least
                   ? std::optional(constant.number)
                   : std::nullopt;
    }
    if (constant.number <= most)
        return constant.number;
    // Of a pattern the highest bit is the sign.
    if (constant.pattern && operand.is_signed() && constant.number <= all)
        return constant.number | ~all;
    return std::nullopt;
}

std::string range_of(const Operand& operand) {
    const uint64_t bits = std::min<uint64_t>(operand.bits, 64);
    const uint64_t all = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    if (!operand.is_signed())
        return fmt::format("0 to {}", all);
    return fmt::format("{} to {}", static_cast<int64_t>(~(all >> 1)), all >> 1);
}

} // namespace auger
