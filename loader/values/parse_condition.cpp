// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/expression_parser.h"

#include <utility>

namespace auger {

ExpressionPointer ExpressionParser::make(Kind kind, Error::Range at) {
    auto made = std::make_unique<Expression>();
    made->kind = kind;
    made->at = at;
    return made;
}

Result<ExpressionPointer> ExpressionParser::run() {
    if (peek().kind == Token::Kind::end)
        return error(peek().at, "an expression is missing", "such as arg0, req->len, ret");
    auto whole = any();
    if (whole && peek().kind != Token::Kind::end)
        return error(peek().at, "is too much here", "conditions are joined by \"and\", \"or\"");
    return whole;
}

Result<ExpressionPointer> ExpressionParser::list(Kind kind, std::string_view word,
                                                 std::string_view symbol,
                                                 Parsed (ExpressionParser::*part)()) {
    auto first = (this->*part)();
    if (!first || (!at_word(word) && !at_symbol(symbol)))
        return first;
    auto whole = make(kind, (*first)->at);
    whole->operands.push_back(*std::move(first));
    while (at_word(word) || at_symbol(symbol)) {
        take();
        auto next = (this->*part)();
        if (!next)
            return next;
        whole->at = joined(whole->at, (*next)->at);
        whole->operands.push_back(*std::move(next));
    }
    return whole;
}

Result<ExpressionPointer> ExpressionParser::any() {
    return list(Kind::any, "or", "||", &ExpressionParser::all);
}

Result<ExpressionPointer> ExpressionParser::all() {
    return list(Kind::all, "and", "&&", &ExpressionParser::negated);
}

Result<ExpressionPointer> ExpressionParser::wrap(Kind kind, Error::Range first, Parsed inner) {
    if (!inner)
        return inner;
    auto whole = make(kind, joined(first, (*inner)->at));
    whole->operands.push_back(*std::move(inner));
    return whole;
}

Result<ExpressionPointer> ExpressionParser::negated() {
    Level level(depth_);
    if (depth_ > depth_limit)
        return too_deep();
    if (!at_word("not"))
        return compared();
    const Error::Range at = take().at;
    return wrap(Kind::negation, at, negated());
}

std::optional<ComparisonOperator> ExpressionParser::comparison() {
    using enum ComparisonOperator;
    constexpr std::pair<std::string_view, ComparisonOperator> operators[] = {
        {"==", equal},      {"!=", unequal}, {"<", less},
        {"<=", less_equal}, {">", greater},  {">=", greater_equal}};
    for (auto [symbol, operation] : operators)
        if (accept(symbol))
            return operation;
    return std::nullopt;
}

Result<ExpressionPointer> ExpressionParser::compared() {
    auto left = value();
    if (!left)
        return left;
    const auto operation = comparison();
    if (!operation)
        return left;
    auto right = value();
    if (!right)
        return right;
    auto whole = make(Kind::comparison, joined((*left)->at, (*right)->at));
    whole->comparison = *operation;
    whole->operands.push_back(*std::move(left));
    whole->operands.push_back(*std::move(right));
    const Error::Range behind = peek().at;
    if (comparison())
        return error(behind, "is a second comparison", "join them: a < b and b < c");
    return whole;
}

Result<ExpressionPointer> parse_expression(std::string_view text) {
    auto tokens = expression_tokens(text);
    if (!tokens)
        return tokens.error();
    return ExpressionParser(text, *tokens).run();
}

} // namespace auger
