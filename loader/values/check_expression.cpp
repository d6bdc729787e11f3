// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/call_program.h"
#include "loader/values/expression.h"

namespace auger {

Result<void> check_predicate(std::string_view text) {
    auto parsed = parse_expression(text);
    return parsed ? Result<void>() : parsed.error();
}

Result<void> check_expression(std::string_view text) {
    auto parsed = parse_expression(text);
    if (!parsed)
        return parsed.error();
    const Expression& expression = **parsed;
    if (expression.condition())
        return expression_error(text, expression.at, "is a condition where a value is wanted");
    if (expression.kind == Expression::Kind::number || expression.kind == Expression::Kind::string)
        return expression_error(text, expression.at, "is not a value of a call",
                                "such as arg0, req->len, ret");
    return {};
}

} // namespace auger
