// SPDX-License-Identifier: GPL-3.0-or-later
// One pass over the line, one word at a time; see lexer.h for the rules.
#include "repl/language/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace auger {
namespace {

bool digit(char c) {
    return c >= '0' && c <= '9';
}

class Lexer {
  public:
    explicit Lexer(std::string_view line) : line_(line) {}

    Parsed<std::vector<CommandText>> run() {
        if (auto bytes = check_bytes(); !bytes)
            return bytes.complaint();
        std::vector<CommandText> commands;
        CommandText command;
        const auto finish = [&] {
            if (!command.words.empty())
                commands.push_back(std::move(command));
            command = {};
        };
        while (at_ < line_.size()) {
            const char c = line_[at_];
            if (is_blank(c)) {
                ++at_;
            } else if (c == ';') {
                ++at_;
                finish();
            } else if (c == '#' && !probe_number(command)) {
                break;
            } else if (const size_t length = comparison()) {
                command.words.push_back(
                    {std::string(line_.substr(at_, length)), {at_, length}, false, true});
                at_ += length;
            } else {
                auto word = begins_expression(command) ? expression()
                                                       : next_word(follows_expression(command));
                if (!word)
                    return word.complaint();
                command.words.push_back(std::move(*word));
            }
        }
        finish();
        return commands;
    }

  private:
    char peek(size_t ahead = 0) const {
        return at_ + ahead < line_.size() ? line_[at_ + ahead] : '\0';
    }
    bool ends_word(size_t at) const {
        return at >= line_.size() || is_blank(line_[at]) || line_[at] == ';';
    }

    Parsed<void> check_bytes() const {
        if (line_.size() > line_limit)
            return Complaint{{line_limit, 0},
                             fmt::format("the line is longer than {} bytes", line_limit),
                             "is this a file of commands?",
                             Error::Kind::usage};
        for (size_t at = 0; at < line_.size();) {
            const auto byte = static_cast<unsigned char>(line_[at]);
            const size_t length = utf8_length(line_, at);
            if (length == 0)
                return Complaint{{at, 1},
                                 fmt::format("byte 0x{:02x} is no UTF-8 text", byte),
                                 "write it as \"\\xHH\" in double quotes if it is meant",
                                 Error::Kind::usage};
            if ((byte < 0x20 && byte != '\t') || byte == 0x7F)
                return Complaint{{at, 1},
                                 byte == 0 ? "the line contains a NUL byte"
                                           : fmt::format("control character 0x{:02x}", byte),
                                 "is this a file of commands?",
                                 Error::Kind::usage};
            at += length;
        }
        return {};
    }

    // '#' followed by digits only, after the command's name: a probe, not a comment.
    bool probe_number(const CommandText& command) const {
        size_t at = at_ + 1;
        while (at < line_.size() && digit(line_[at]))
            ++at;
        return !command.words.empty() && at > at_ + 1 && ends_word(at);
    }

    // Length of a comparison that stands alone or directly before a value ('>5ms', '>p95'); else 0,
    // so that Rust's '<T as Trait>::f' is a word.
    size_t comparison() const {
        constexpr std::array<std::string_view, 6> all{">=", "<=", "==", "!=", ">", "<"};
        for (const std::string_view text : all) {
            if (line_.substr(at_, text.size()) != text)
                continue;
            const size_t end = at_ + text.size();
            const bool value = digit(peek(text.size())) ||
                               (peek(text.size()) == 'p' && digit(peek(text.size() + 1)));
            return ends_word(end) || value ? text.size() : 0;
        }
        return 0;
    }

    bool begins_expression(const CommandText& command) const {
        const std::vector<Word>& words = command.words;
        const auto begins = [](std::string_view whole, const Word& word) {
            return !word.text.empty() && whole.starts_with(word.text);
        };
        return words.size() == 2 && peek() == '/' &&
               (begins("rewrite", words[0]) || begins("drop", words[0])) &&
               (begins("frame", words[1]) || begins("thread", words[1]));
    }
    static bool follows_expression(const CommandText& command) {
        return !command.words.empty() && command.words.back().expression;
    }

    // With what is escaped in it as it stands: that is the expression's own affair.
    Parsed<Word> expression() {
        const size_t start = at_++;
        while (at_ < line_.size() && line_[at_] != '/')
            at_ += line_[at_] == '\\' ? 2 : 1;
        if (at_ >= line_.size()) {
            at_ = line_.size();
            return Complaint{{start, at_ - start},
                             "this expression is not closed",
                             "add / at its end; within it / is written \\/",
                             Error::Kind::usage};
        }
        const size_t end = at_++;
        if (!ends_word(at_))
            return Complaint{{at_, 1},
                             "the expression has ended here",
                             "within it / is written \\/; (?i) at its beginning ignores case",
                             Error::Kind::usage};
        Word word{std::string(line_.substr(start + 1, end - start - 1)), {start, at_ - start}};
        word.expression = true;
        return word;
    }

    Parsed<Word> next_word(bool keeps_escapes) {
        const size_t start = at_;
        Word word;
        // Open brackets, and where to fall back to when they are never closed: without them.
        std::string open;
        size_t first_blank = 0, text_at_blank = 0;
        while (at_ < line_.size()) {
            const char c = line_[at_];
            if (c == ';' || (is_blank(c) && (open.empty() || !brackets_)))
                break;
            if (is_blank(c) && first_blank == 0) {
                first_blank = at_;
                text_at_blank = word.text.size();
            }
            if (c == '\'' || c == '"') {
                if (auto quoted = quotation(word.text); !quoted)
                    return quoted.complaint();
                word.quoted = true;
                continue;
            }
            if (c == '\\' && at_ + 1 < line_.size()) {
                if (keeps_escapes)
                    word.text += c;
                word.text += line_[at_ + 1];
                at_ += 2;
                continue;
            }
            if (const size_t name = operator_name(word.text)) {
                word.text += line_.substr(at_, name);
                at_ += name;
                continue;
            }
            track(c, open);
            word.text += c;
            ++at_;
        }
        if (!open.empty() && first_blank != 0) {
            // Nothing on this line closes them; keeps a long line of '(' from being read again and
            // again.
            brackets_ = false;
            at_ = first_blank;
            word.text.resize(text_at_blank);
        }
        word.span = {start, at_ - start};
        return word;
    }

    static void track(char c, std::string& open) {
        if (c == '(' || c == '<' || c == '[' || c == '{')
            open += c;
        else if (c == '-' || open.empty())
            return;
        else if ((c == ')' && open.back() == '(') || (c == ']' && open.back() == '[') ||
                 (c == '}' && open.back() == '{') || (c == '>' && open.back() == '<'))
            open.pop_back();
    }

    // Length of what follows "operator" in a C++ name and looks like brackets: (), <, <<, ->, ...
    size_t operator_name(std::string_view before) const {
        if (!before.ends_with("operator"))
            return 0;
        constexpr std::array<std::string_view, 14> all{
            "()", "<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "[]", "<", ">", "{}"};
        for (const std::string_view text : all) {
            if (line_.substr(at_, text.size()) == text)
                return text.size();
        }
        return 0;
    }

    Parsed<void> quotation(std::string& text) {
        const size_t start = at_;
        const char quote = line_[at_++];
        while (at_ < line_.size() && line_[at_] != quote) {
            if (quote == '"' && line_[at_] == '\\') {
                if (auto escaped = escape(text); !escaped)
                    return escaped.complaint();
            } else {
                text += line_[at_++];
            }
        }
        if (at_ >= line_.size())
            return Complaint{{start, line_.size() - start},
                             "this quotation is not closed",
                             fmt::format("add {} at its end", quote),
                             Error::Kind::usage};
        ++at_;
        return {};
    }

    Parsed<void> escape(std::string& text) {
        const size_t start = at_++;
        const char c = peek();
        ++at_;
        switch (c) {
        case 'n':
            text += '\n';
            return {};
        case 't':
            text += '\t';
            return {};
        case '\\':
        case '"':
        case '\'':
            text += c;
            return {};
        case 'x': {
            unsigned value = 0;
            size_t digits = 0;
            for (; digits < 2; ++digits, ++at_) {
                const char h = peek();
                const int nibble = digit(h)               ? h - '0'
                                   : h >= 'a' && h <= 'f' ? h - 'a' + 10
                                   : h >= 'A' && h <= 'F' ? h - 'A' + 10
                                                          : -1;
                if (nibble < 0)
                    break;
                value = value * 16 + static_cast<unsigned>(nibble);
            }
            // A NUL would cut names short wherever the kernel or libc takes them.
            if (digits == 2 && value != 0) {
                text += static_cast<char>(value);
                return {};
            }
            break;
        }
        default:
            break;
        }
        at_ = std::min(at_, line_.size());
        return Complaint{{start, at_ - start},
                         "unknown escape",
                         R"(in double quotes there are \n \t \\ \" \' and \xHH (not \x00))",
                         Error::Kind::usage};
    }

    std::string_view line_;
    size_t at_ = 0;
    bool brackets_ = true;
};

} // namespace

Parsed<std::vector<CommandText>> lex(std::string_view line) {
    return Lexer(line).run();
}

} // namespace auger
