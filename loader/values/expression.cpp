// SPDX-License-Identifier: GPL-3.0-or-later
// Recursive descent. From the loosest to the tightest: or, and, not, comparisons, &, ! and *, and
// what follows a value (-> . []).
#include "loader/values/expression.h"

#include "loader/values/expression_token.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace auger {
namespace {

using Kind = Expression::Kind;
using Token = ExpressionToken;

constexpr unsigned depth_limit = 64; // of parentheses, `not`, `*`
constexpr uint64_t index_limit = INT32_MAX;

Error::Range joined(Error::Range first, Error::Range last) {
    return {first.offset, last.offset + last.length - first.offset};
}

ExpressionPointer make(Kind kind, Error::Range at) {
    auto made = std::make_unique<Expression>();
    made->kind = kind;
    made->at = at;
    return made;
}

class Parser {
  public:
    Parser(std::string_view text, const std::vector<Token>& tokens)
        : text_(text), tokens_(tokens) {}

    Result<ExpressionPointer> run() {
        if (peek().kind == Token::Kind::end)
            return error(peek().at, "an expression is missing", "such as arg0, req->len, ret");
        auto whole = any();
        if (whole && peek().kind != Token::Kind::end)
            return error(peek().at, "is too much here", "conditions are joined by \"and\", \"or\"");
        return whole;
    }

  private:
    using Parsed = Result<ExpressionPointer>;

    Error error(Error::Range at, std::string cause, std::string hint = {}) const {
        return expression_error(text_, at, std::move(cause), std::move(hint));
    }
    const Token& peek() const { return tokens_[next_]; }
    // Never beyond the last one, which is `end`.
    const Token& take() { return tokens_[next_ + 1 < tokens_.size() ? next_++ : next_]; }
    Error::Range last_at() const { return tokens_[next_ ? next_ - 1 : 0].at; }
    bool at_symbol(std::string_view symbol) const {
        return peek().kind == Token::Kind::symbol && peek().text == symbol;
    }
    bool at_word(std::string_view word) const {
        return peek().kind == Token::Kind::name && peek().text == word;
    }
    bool accept(std::string_view symbol) {
        if (!at_symbol(symbol))
            return false;
        take();
        return true;
    }

    Parsed list(Kind kind, std::string_view word, std::string_view symbol,
                Parsed (Parser::*part)()) {
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
    Parsed any() { return list(Kind::any, "or", "||", &Parser::all); }
    Parsed all() { return list(Kind::all, "and", "&&", &Parser::negated); }

    Parsed wrap(Kind kind, Error::Range first, Parsed inner) {
        if (!inner)
            return inner;
        auto whole = make(kind, joined(first, (*inner)->at));
        whole->operands.push_back(*std::move(inner));
        return whole;
    }

    // Counts levels for as long as it lives.
    struct Level {
        unsigned& depth;
        explicit Level(unsigned& counter) : depth(counter) { ++depth; }
        ~Level() { --depth; }
    };
    Error too_deep() const { return error(peek().at, "is nested too deeply"); }

    Parsed negated() {
        Level level(depth_);
        if (depth_ > depth_limit)
            return too_deep();
        if (!at_word("not"))
            return compared();
        const Error::Range at = take().at;
        return wrap(Kind::negation, at, negated());
    }

    std::optional<ComparisonOperator> comparison() {
        using enum ComparisonOperator;
        constexpr std::pair<std::string_view, ComparisonOperator> operators[] = {
            {"==", equal},      {"!=", unequal}, {"<", less},
            {"<=", less_equal}, {">", greater},  {">=", greater_equal}};
        if (peek().kind == Token::Kind::symbol)
            for (auto [symbol, operation] : operators)
                if (peek().text == symbol) {
                    take();
                    return operation;
                }
        return std::nullopt;
    }

    Parsed compared() {
        auto left = masked();
        if (!left)
            return left;
        const auto operation = comparison();
        if (!operation)
            return left;
        auto right = masked();
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

    Parsed masked() {
        auto left = unary();
        if (!left || !accept("&"))
            return left;
        auto right = unary();
        if (!right)
            return right;
        auto whole = make(Kind::bits, joined((*left)->at, (*right)->at));
        whole->operands.push_back(*std::move(left));
        whole->operands.push_back(*std::move(right));
        return whole;
    }

    Parsed unary() {
        Level level(depth_);
        if (depth_ > depth_limit)
            return too_deep();
        const Error::Range at = peek().at;
        if (accept("!"))
            return wrap(Kind::negation, at, unary());
        if (accept("*"))
            return wrap(Kind::pointee, at, unary());
        if (accept("-"))
            return negative(at);
        return postfix();
    }

    Parsed negative(Error::Range minus) {
        if (peek().kind != Token::Kind::number)
            return error(minus, "only numbers can be negative", "there is no arithmetic");
        const Token& token = take();
        if (token.number > uint64_t{1} << 63)
            return error(joined(minus, token.at), "does not fit into 64 bits");
        auto made = make(Kind::number, joined(minus, token.at));
        made->number = -token.number;
        made->negative = token.number != 0;
        made->hexadecimal = token.hexadecimal;
        return made;
    }

    Parsed postfix() {
        auto value = primary();
        while (value) {
            if (accept("->") || accept(".")) {
                if (peek().kind != Token::Kind::name)
                    return error(peek().at, "a member's name is missing");
                const Token& token = take();
                auto whole = make(Kind::member, joined((*value)->at, token.at));
                whole->name_at = token.at;
                whole->text = token.text;
                whole->operands.push_back(*std::move(value));
                value = std::move(whole);
            } else if (accept("[")) {
                const bool minus = accept("-");
                if (peek().kind != Token::Kind::number || peek().number > index_limit)
                    return error(peek().at, "an index is a number", "such as items[3]");
                const uint64_t index = take().number;
                if (!accept("]"))
                    return error(peek().at, "a ] is missing");
                auto whole = make(Kind::element, joined((*value)->at, last_at()));
                whole->number = minus ? -index : index;
                whole->operands.push_back(*std::move(value));
                value = std::move(whole);
            } else {
                break;
            }
        }
        return value;
    }

    Parsed primary() {
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

    Parsed parenthesised() {
        const Error::Range open = take().at;
        auto inner = any();
        if (!inner)
            return inner;
        if (!accept(")"))
            return error(peek().at, "a ) is missing");
        (*inner)->at = joined(open, last_at());
        return inner;
    }

    Parsed name() {
        const Token& token = take();
        for (std::string_view word : {"and", "or", "not"})
            if (token.text == word)
                return error(token.at, "a value is missing", "such as arg0, req->len, ret");
        if (!accept("(")) {
            auto made = make(Kind::name, token.at);
            made->text = token.text;
            return made;
        }
        if (token.text != "str")
            return error(token.at, fmt::format("there is no function \"{}\"", token.text),
                         "only str(POINTER) is");
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

    std::string_view text_;
    const std::vector<Token>& tokens_;
    size_t next_ = 0;
    unsigned depth_ = 0;
};

} // namespace

Result<ExpressionPointer> parse_expression(std::string_view text) {
    auto tokens = expression_tokens(text);
    if (!tokens)
        return tokens.error();
    return Parser(text, *tokens).run();
}

} // namespace auger
