// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/values/expression.h"

#include <cstdlib>

namespace auger::test {
namespace {

bool lies_within(const Error::Range& range, size_t size) {
    return range.offset <= size && range.length <= size - range.offset;
}

void check_places(const Expression& expression, size_t size) {
    if (!lies_within(expression.at, size) || !lies_within(expression.name_at, size))
        std::abort();
    for (const ExpressionPointer& operand : expression.operands)
        check_places(*operand, size);
}

} // namespace

// Whatever is written, there is a tree or a complaint, with places in the text.
void fuzz_expression(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto parsed = parse_expression(text);
    if (parsed)
        check_places(**parsed, size);
    else if (!parsed.error().at || !lies_within(*parsed.error().at, parsed.error().subject.size()))
        std::abort();
}

} // namespace auger::test
