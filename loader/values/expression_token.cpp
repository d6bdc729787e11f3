// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/expression_token.h"

#include "loader/values/expression.h"

#include <algorithm>
#include <optional>

namespace auger {
namespace {

constexpr size_t text_limit = 4096; // bytes

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool in_word(char c) {
    return begins_name(c) || is_digit(c);
}
int hexadecimal_digit(char c) {
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

using Token = ExpressionToken;

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}

    Result<std::vector<Token>> run() {
        if (text_.size() > text_limit)
            return expression_error(text_.substr(0, text_limit), {0, text_limit}, "is too long",
                                    "at most 4,096 bytes");
        for (skip_blanks(); at_ < text_.size(); skip_blanks())
            if (auto read = next(); !read)
                return read.error();
        tokens_.push_back({Token::Kind::end, {text_.size(), 0}});
        return std::move(tokens_);
    }

  private:
    Error error(size_t from, std::string cause, std::string hint = {}) const {
        return expression_error(text_, {from, at_ - from}, std::move(cause), std::move(hint));
    }

    void skip_blanks() {
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
            ++at_;
    }

    Result<void> next() {
        const char first = text_[at_];
        if (is_digit(first))
            return number();
        if (begins_name(first))
            return name();
        if (first == '"' || first == '\'')
            return string(first);
        return symbol();
    }

    void add(Token::Kind kind, size_t from, std::string text) {
        tokens_.push_back({kind, {from, at_ - from}, std::move(text)});
    }

    Result<void> number() {
        const size_t from = at_;
        while (at_ < text_.size() && in_word(text_[at_]))
            ++at_;
        const std::string_view word = text_.substr(from, at_ - from);
        const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
        const uint64_t base = hexadecimal ? 16 : 10;
        uint64_t value = 0;
        bool fits = true, valid = word.size() > (hexadecimal ? 2u : 0u);
        for (char c : word.substr(hexadecimal ? 2 : 0)) {
            const int digit = hexadecimal_digit(c);
            valid = valid && digit >= 0 && static_cast<uint64_t>(digit) < base;
            if (!valid)
                break;
            fits = fits && !__builtin_mul_overflow(value, base, &value) &&
                   !__builtin_add_overflow(value, static_cast<uint64_t>(digit), &value);
        }
        if (!valid)
            return error(from, "is not a number",
                         "numbers are decimal or begin with 0x: 4096, 0x40");
        if (!fits)
            return error(from, "does not fit into 64 bits");
        add(Token::Kind::number, from, {});
        tokens_.back().number = value;
        tokens_.back().hexadecimal = hexadecimal;
        return {};
    }

    Result<void> name() {
        const size_t from = at_;
        while (at_ < text_.size() && in_word(text_[at_])) {
            ++at_;
            // `Color::red`
            if (text_.substr(at_).starts_with("::") && at_ + 2 < text_.size() &&
                begins_name(text_[at_ + 2]))
                at_ += 2;
        }
        add(Token::Kind::name, from, std::string(text_.substr(from, at_ - from)));
        return {};
    }

    // Single quotes keep everything as it is, as in a shell.
    Result<void> string(char quote) {
        const size_t from = at_++;
        std::string bytes;
        while (at_ < text_.size() && text_[at_] != quote) {
            if (quote == '"' && text_[at_] == '\\') {
                const size_t begin = at_++;
                const std::optional<char> escaped = escape();
                if (!escaped)
                    return error(begin, "is not an escape", R"(there are \\ \" \n \t \r \xHH)");
                bytes += *escaped;
            } else {
                bytes += text_[at_++];
            }
        }
        if (at_ == text_.size())
            return error(from, "has no end", std::string("a ") + quote + " is missing");
        ++at_;
        if (bytes.find('\0') != bytes.npos)
            return error(from, "holds a NUL", "strings end at the first one");
        add(Token::Kind::string, from, std::move(bytes));
        return {};
    }

    // Behind the backslash.
    std::optional<char> escape() {
        if (at_ == text_.size())
            return std::nullopt;
        switch (text_[at_++]) {
        case '\\':
            return '\\';
        case '"':
            return '"';
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case 'r':
            return '\r';
        case 'x': {
            if (text_.size() - at_ < 2)
                return std::nullopt;
            const int high = hexadecimal_digit(text_[at_]), low = hexadecimal_digit(text_[at_ + 1]);
            at_ += 2;
            if (high < 0 || low < 0)
                return std::nullopt;
            return static_cast<char>(high * 16 + low);
        }
        default:
            return std::nullopt;
        }
    }

    Result<void> symbol() {
        const size_t from = at_;
        for (std::string_view symbol :
             {"->", "==", "!=", "<<", ">>", "<=", ">=", "&&", "||", "<", ">", "&", "|",
              "!",  "(",  ")",  "[",  "]",  ".",  ",",  "*",  "/",  "%", "+", "-"})
            if (text_.substr(at_).starts_with(symbol)) {
                at_ += symbol.size();
                add(Token::Kind::symbol, from, std::string(symbol));
                return {};
            }
        ++at_;
        if (text_[from] == '=')
            return error(from, "is not a comparison", "\"==\" is");
        if (std::string_view("^~").find(text_[from]) != std::string_view::npos)
            return error(from, "is not an operator here", "there are + - * / % & | << >>");
        return error(from, "is not understood here",
                     "a condition compares values: arg2 > 4096 and ret < 0");
    }

    std::string_view text_;
    size_t at_ = 0;
    std::vector<Token> tokens_;
};

} // namespace

Result<std::vector<ExpressionToken>> expression_tokens(std::string_view text) {
    return Lexer(text).run();
}

Error expression_error(std::string_view text, Error::Range at, std::string cause,
                       std::string hint) {
    Error error{{}, std::string(text), std::move(cause), std::move(hint), Error::Kind::usage};
    error.at = at;
    return error;
}

} // namespace auger
