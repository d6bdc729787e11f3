// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/program_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace auger {
namespace {

Error limit(std::string_view what, unsigned most, std::string_view which = "") {
    return {{},
            {},
            fmt::format("is one {} too many", what),
            fmt::format("{} is the most{}", most, which),
            Error::Kind::usage};
}

template <typename Record>
bool same(const Record& a, const Record& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

} // namespace

// What it is computed of comes before it.
Result<wire_fetch> ProgramBuilder::with_operands(const Operand& operand) {
    wire_fetch fetch = operand.fetch;
    if (operand.length) {
        auto length = add_value(*operand.length);
        if (!length)
            return length.error();
        fetch.length = *length;
    }
    if (!operand.computation)
        return fetch;
    const Computation& computation = *operand.computation;
    fetch.constant = computation.constant;
    if (fetch.base == WIRE_BASE_CONSTANT || fetch.base == WIRE_BASE_DATA_LOC)
        return fetch;
    auto left = add_value(computation.left);
    if (!left)
        return left.error();
    fetch.number = *left;
    fetch.operation = static_cast<uint8_t>(computation.operation);
    fetch.operand = WIRE_NO_VALUE;
    if (!computation.right)
        return fetch;
    auto right = add_value(*computation.right);
    if (!right)
        return right.error();
    fetch.operand = *right;
    return fetch;
}

Result<uint8_t> ProgramBuilder::add_value(const Operand& operand) {
    auto fetch = with_operands(operand);
    if (!fetch)
        return fetch.error();
    wire_call_program& wire = program_.wire;
    for (uint8_t i = 0; i < wire.fetches; ++i) {
        wire_fetch wanted = *fetch;
        wanted.string = wire.fetch[i].string;
        if (same(wire.fetch[i], wanted) && program_.formats[i].kind == operand.format.kind)
            return i;
    }
    if (wire.fetches == WIRE_MAX_VALUES)
        return limit("value", WIRE_MAX_VALUES, ", with those that others are computed of");
    if (operand.is_string() && fetched_strings_ == WIRE_MAX_STRINGS)
        return limit("string", WIRE_MAX_STRINGS);
    if (operand.is_string())
        fetch->string = fetched_strings_++;
    wire.fetch[wire.fetches] = *fetch;
    program_.formats.push_back(operand.format);
    return wire.fetches++;
}

Result<uint8_t> ProgramBuilder::add_comparison(const wire_comparison& comparison) {
    wire_call_program& wire = program_.wire;
    for (uint8_t i = 0; i < wire.comparisons; ++i)
        if (same(wire.comparison[i], comparison))
            return i;
    if (wire.comparisons == WIRE_MAX_COMPARISONS)
        return limit("comparison", WIRE_MAX_COMPARISONS);
    wire.comparison[wire.comparisons] = comparison;
    return wire.comparisons++;
}

Result<uint8_t> ProgramBuilder::add_string(const std::string& text) {
    // A fetched string that was cut is as long as its slot: it must not equal one that is whole.
    if (text.size() > WIRE_STRING - 2)
        return Error{{},
                     {},
                     "is too long to compare with",
                     fmt::format("{} bytes are the most", WIRE_STRING - 2),
                     Error::Kind::usage};
    for (uint8_t i = 0; i < constants_; ++i)
        if (text == program_.wire.string[i])
            return i;
    if (constants_ == WIRE_MAX_STRINGS)
        return limit("string to compare with", WIRE_MAX_STRINGS);
    std::copy(text.begin(), text.end(), program_.wire.string[constants_]);
    return constants_++;
}

} // namespace auger
