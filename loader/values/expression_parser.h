// SPDX-License-Identifier: GPL-3.0-or-later
// Recursive descent. From the loosest to the tightest: or, and, not, comparisons
// (parse_condition.cpp); |, &, << and >>, + and -, * / and %, what stands before a value (! * & -
// and casts), and what follows it (-> . []) (parse_value.cpp).
#pragma once

#include "loader/values/expression.h"
#include "loader/values/expression_token.h"

#include <optional>
#include <string_view>
#include <vector>

namespace auger {

class ExpressionParser {
  public:
    ExpressionParser(std::string_view text, const std::vector<ExpressionToken>& tokens)
        : text_(text), tokens_(tokens) {}

    Result<ExpressionPointer> run();

  private:
    using Kind = Expression::Kind;
    using Token = ExpressionToken;
    using Parsed = Result<ExpressionPointer>;

    static constexpr unsigned depth_limit = 64; // of parentheses, `not`, `*`

    // Counts levels for as long as it lives.
    struct Level {
        unsigned& depth;
        explicit Level(unsigned& counter) : depth(counter) { ++depth; }
        ~Level() { --depth; }
    };

    Parsed any();
    Parsed all();
    Parsed list(Kind kind, std::string_view word, std::string_view symbol,
                Parsed (ExpressionParser::*part)());
    Parsed negated();
    Parsed compared();
    std::optional<ComparisonOperator> comparison();

    Parsed value() { return binary(0); }
    Parsed binary(size_t level);
    std::optional<ArithmeticOperator> arithmetic(size_t level);
    Parsed compute(ArithmeticOperator operation, ExpressionPointer left, ExpressionPointer right);
    Parsed unary();
    Parsed negative(Error::Range minus);
    Parsed cast(TypeName type, size_t end);
    Parsed postfix();
    Parsed member(ExpressionPointer owner);
    Parsed element(ExpressionPointer owner);
    Parsed primary();
    Parsed parenthesised();
    Parsed name();
    Parsed go_label(Error::Range first);
    // Of the parenthesis that comes next, when it holds a type; `end`: the token behind it.
    std::optional<TypeName> type_in_parentheses(size_t& end) const;
    size_t behind_template_arguments(size_t token) const;

    Parsed wrap(Kind kind, Error::Range first, Parsed inner);
    static ExpressionPointer make(Kind kind, Error::Range at);
    static Error::Range joined(Error::Range first, Error::Range last) {
        return {first.offset, last.offset + last.length - first.offset};
    }
    Error error(Error::Range at, std::string cause, std::string hint = {}) const {
        return expression_error(text_, at, std::move(cause), std::move(hint));
    }
    Error too_deep() const { return error(peek().at, "is nested too deeply"); }

    const Token& peek() const { return tokens_[next_]; }
    // Never beyond the last one, which is `end`.
    const Token& take() { return tokens_[next_ + 1 < tokens_.size() ? next_++ : next_]; }
    Error::Range last_at() const { return tokens_[next_ ? next_ - 1 : 0].at; }
    bool is_symbol(size_t token, std::string_view symbol) const {
        return tokens_[token].kind == Token::Kind::symbol && tokens_[token].text == symbol;
    }
    bool at_symbol(std::string_view symbol) const { return is_symbol(next_, symbol); }
    bool at_word(std::string_view word) const {
        return peek().kind == Token::Kind::name && peek().text == word;
    }
    bool accept(std::string_view symbol) {
        if (!at_symbol(symbol))
            return false;
        take();
        return true;
    }

    std::string_view text_;
    const std::vector<Token>& tokens_;
    size_t next_ = 0;
    unsigned depth_ = 0;
    unsigned operations_ = 0;
};

} // namespace auger
