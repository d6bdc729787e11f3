// SPDX-License-Identifier: GPL-3.0-or-later
// Whether parentheses hold a type is told without knowing any but the basic ones, by what cannot be
// a value: `struct request`, `request *`, and one name alone that a value follows.
#include "loader/values/basic_type.h"
#include "loader/values/expression_parser.h"

#include <algorithm>

namespace auger {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

bool is_qualifier(std::string_view word) {
    return is_one_of(word, {"const", "volatile"});
}

} // namespace

// The token behind the last >; the same token when no < that has one begins there.
size_t ExpressionParser::behind_template_arguments(size_t token) const {
    if (!is_symbol(token, "<"))
        return token;
    size_t open = 0;
    for (size_t i = token; i < tokens_.size(); ++i) {
        const Token& part = tokens_[i];
        if (part.kind == Token::Kind::name || part.kind == Token::Kind::number)
            continue;
        if (part.kind != Token::Kind::symbol ||
            !is_one_of(part.text, {"<", ">", ">>", ",", "*", "&"}))
            return token;
        open += part.text == "<";
        const size_t closed = part.text == ">" ? 1 : part.text == ">>" ? 2 : 0;
        if (closed > open)
            return token;
        open -= closed;
        if (open == 0)
            return i + 1;
    }
    return token;
}

std::optional<TypeName> ExpressionParser::type_in_parentheses(size_t& end) const {
    if (!at_symbol("("))
        return std::nullopt;
    const auto word_at = [&](size_t token) {
        return tokens_[token].kind == Token::Kind::name &&
               !is_one_of(tokens_[token].text, {"and", "or", "not"});
    };
    TypeName type;
    size_t i = next_ + 1, words = 0;
    while (word_at(i)) {
        const size_t first = i, behind = behind_template_arguments(i + 1);
        const size_t from = tokens_[first].at.offset;
        i = behind;
        if (is_qualifier(tokens_[first].text))
            continue;
        const Error::Range last = tokens_[behind - 1].at;
        type.text += (words++ ? " " : "");
        type.text += text_.substr(from, last.offset + last.length - from);
    }
    for (; is_symbol(i, "*") || (word_at(i) && is_qualifier(tokens_[i].text)); ++i)
        type.pointers += is_symbol(i, "*");
    if (words == 0 || !is_symbol(i, ")"))
        return std::nullopt;
    end = i + 1;
    // `(a)` is a value in parentheses, and so is what `&`, `*` or `-` follows; `(a) b` is none.
    if (words == 1 && type.pointers == 0 && !basic_type(type.text) && !word_at(end) &&
        !is_symbol(end, "("))
        return std::nullopt;
    return type;
}

} // namespace auger
