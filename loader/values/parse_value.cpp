// SPDX-License-Identifier: GPL-3.0-or-later
#include "bpf/wire.h"
#include "loader/values/expression_parser.h"
#include "loader/values/fold_numbers.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace auger {
namespace {

using enum ArithmeticOperator;
using Operators = std::array<std::pair<std::string_view, ArithmeticOperator>, 3>;

constexpr unsigned operation_limit = 64;

// From the loosest to the tightest; a level of fewer than three ends with an empty symbol.
constexpr std::array<Operators, 5> levels{{
    {{{"|", bit_or}}},
    {{{"&", bit_and}}},
    {{{"<<", shift_left}, {">>", shift_right}}},
    {{{"+", add}, {"-", subtract}}},
    {{{"*", multiply}, {"/", divide}, {"%", modulo}}},
}};

} // namespace

std::optional<ArithmeticOperator> ExpressionParser::arithmetic(size_t level) {
    for (auto [symbol, operation] : levels[level])
        if (!symbol.empty() && accept(symbol))
            return operation;
    return std::nullopt;
}

Result<ExpressionPointer> ExpressionParser::binary(size_t level) {
    if (level == levels.size())
        return unary();
    auto left = binary(level + 1);
    while (left) {
        const auto operation = arithmetic(level);
        if (!operation)
            break;
        auto right = binary(level + 1);
        if (!right)
            return right;
        left = compute(*operation, *std::move(left), *std::move(right));
    }
    return left;
}

Result<ExpressionPointer> ExpressionParser::compute(ArithmeticOperator operation,
                                                    ExpressionPointer left,
                                                    ExpressionPointer right) {
    const Error::Range at = joined(left->at, right->at);
    if (++operations_ > operation_limit)
        return error(at, "has too many operations",
                     fmt::format("{} are the most", operation_limit));
    if (left->kind == Kind::number && right->kind == Kind::number) {
        auto number = fold_numbers(operation, *left, *right);
        if (!number)
            return error(at, number.error().cause, number.error().hint);
        (*number)->at = at;
        return number;
    }
    auto whole = make(Kind::arithmetic, at);
    whole->arithmetic = operation;
    whole->operands.push_back(std::move(left));
    whole->operands.push_back(std::move(right));
    return whole;
}

Result<ExpressionPointer> ExpressionParser::unary() {
    Level level(depth_);
    if (depth_ > depth_limit)
        return too_deep();
    const Error::Range at = peek().at;
    if (accept("!"))
        return wrap(Kind::negation, at, unary());
    if (accept("*"))
        return wrap(Kind::pointee, at, unary());
    if (accept("&"))
        return wrap(Kind::address, at, unary());
    if (accept("-"))
        return negative(at);
    size_t end;
    if (auto type = type_in_parentheses(end))
        return cast(*std::move(type), end);
    return postfix();
}

Result<ExpressionPointer> ExpressionParser::negative(Error::Range minus) {
    auto inner = unary();
    if (!inner)
        return inner;
    return compute(subtract, make(Kind::number, minus), *std::move(inner));
}

Result<ExpressionPointer> ExpressionParser::cast(TypeName type, size_t end) {
    const Error::Range open = take().at, first = peek().at, last = tokens_[end - 2].at;
    next_ = end;
    auto whole = wrap(Kind::cast, open, unary());
    if (whole) {
        (*whole)->type = std::move(type);
        (*whole)->name_at = joined(first, last);
    }
    return whole;
}

Result<ExpressionPointer> ExpressionParser::postfix() {
    auto value = primary();
    while (value) {
        if (accept("->") || accept("."))
            value = member(*std::move(value));
        else if (accept("["))
            value = element(*std::move(value));
        else
            break;
    }
    return value;
}

Result<ExpressionPointer> ExpressionParser::member(ExpressionPointer owner) {
    if (peek().kind != Token::Kind::name)
        return error(peek().at, "a member's name is missing");
    const Token& token = take();
    auto whole = make(Kind::member, joined(owner->at, token.at));
    whole->name_at = token.at;
    whole->text = token.text;
    whole->operands.push_back(std::move(owner));
    return whole;
}

Result<ExpressionPointer> ExpressionParser::element(ExpressionPointer owner) {
    auto index = value();
    if (!index)
        return index;
    if (!accept("]"))
        return error(peek().at, "a ] is missing");
    auto whole = make(Kind::element, joined(owner->at, last_at()));
    whole->operands.push_back(std::move(owner));
    whole->operands.push_back(*std::move(index));
    return whole;
}

Result<ExpressionPointer> ExpressionParser::primary() {
    const Token& token = peek();
    switch (token.kind) {
    case Token::Kind::number: {
        auto made = make(Kind::number, take().at);
        made->number = token.number;
        made->hexadecimal = token.hexadecimal;
        return made;
    }
    case Token::Kind::string: {
        auto made = make(Kind::string, take().at);
        made->text = token.text;
        return made;
    }
    case Token::Kind::name:
        return name();
    case Token::Kind::symbol:
        if (token.text == "(")
            return parenthesised();
        return error(token.at, "a value is missing", "such as arg0, req->len, ret");
    case Token::Kind::end:
        break;
    }
    return error(token.at, "a value is missing at the end");
}

Result<ExpressionPointer> ExpressionParser::parenthesised() {
    const Error::Range open = take().at;
    auto inner = any();
    if (!inner)
        return inner;
    if (!accept(")"))
        return error(peek().at, "a ) is missing");
    (*inner)->at = joined(open, last_at());
    return inner;
}

Result<ExpressionPointer> ExpressionParser::name() {
    const Token& token = take();
    for (std::string_view word : {"and", "or", "not"})
        if (token.text == word)
            return error(token.at, "a value is missing", "such as arg0, req->len, ret");
    if (!accept("(")) {
        auto made = make(Kind::name, token.at);
        made->text = token.text;
        return made;
    }
    if (token.text == "golabel")
        return go_label(token.at);
    if (token.text != "str")
        return error(token.at, fmt::format("there is no function \"{}\"", token.text),
                     "there are str(POINTER) and golabel(\"KEY\")");
    auto made = make(Kind::string_at, token.at);
    auto inner = any();
    if (!inner)
        return inner;
    if (!accept(")"))
        return error(peek().at, "a ) is missing");
    made->at = joined(token.at, last_at());
    made->operands.push_back(*std::move(inner));
    return made;
}

// Behind the parenthesis.
Result<ExpressionPointer> ExpressionParser::go_label(Error::Range first) {
    constexpr size_t key_limit = sizeof(wire_fetch::key);
    const Token& key = peek();
    if (key.kind != Token::Kind::string)
        return error(key.at, "a label's key is missing", "it is in quotes: golabel(\"route\")");
    if (key.text.empty())
        return error(key.at, "is no label's key");
    if (key.text.size() > key_limit)
        return error(key.at, "is too long for a label's key",
                     fmt::format("{} bytes are the most", key_limit));
    take();
    if (!accept(")"))
        return error(peek().at, "a ) is missing");
    auto made = make(Kind::go_label, joined(first, last_at()));
    made->text = key.text;
    return made;
}

} // namespace auger
