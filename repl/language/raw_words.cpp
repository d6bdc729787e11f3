// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/raw_words.h"

#include "repl/language/lexer.h"

#include <algorithm>

namespace auger {
namespace {

class RawWords {
  public:
    RawWords(std::string_view line, Span part, Grouping grouping)
        : line_(line.substr(0, part.offset + part.length)), at_(part.offset), grouping_(grouping) {}

    Parsed<std::vector<Word>> run() {
        std::vector<Word> words;
        while (at_ < line_.size()) {
            if (is_blank(line_[at_])) {
                ++at_;
                continue;
            }
            const size_t begin = at_;
            if (grouping_ == Grouping::tokens && (line_[at_] == '(' || line_[at_] == ')')) {
                ++at_;
                words.push_back({std::string(1, line_[begin]), {begin, 1}, false, false});
                continue;
            }
            skip_word();
            const Span span{begin, at_ - begin};
            if (grouping_ == Grouping::whole) {
                words.push_back({std::string(line_.substr(begin, span.length)), span,
                                 line_[begin] == '\'' || line_[begin] == '"', false});
                continue;
            }
            auto word = unquoted(span);
            if (!word)
                return word.complaint();
            words.push_back(std::move(*word));
        }
        return words;
    }

  private:
    void skip_word() {
        const size_t begin = at_;
        if (const size_t sign = comparison(); grouping_ == Grouping::tokens && sign) {
            at_ += sign;
            return;
        }
        size_t open = 0;
        while (at_ < line_.size()) {
            const char c = line_[at_];
            if (is_blank(c) && open == 0)
                return;
            if (c == '\'' || c == '"') {
                skip_quotation(c);
                continue;
            }
            if (c == '\\' && at_ + 1 < line_.size()) {
                at_ += 2;
                continue;
            }
            if (grouping_ == Grouping::tokens) {
                const std::string_view before = line_.substr(begin, at_ - begin);
                if (c == '(' && (before == "not" || before == "and" || before == "or"))
                    return;
                if (c == ')' && open == 0)
                    return;
                if (const size_t end = c == '<' ? closing_angle() : 0) {
                    at_ = end;
                    continue;
                }
            }
            open += c == '(';
            open -= c == ')' && open > 0;
            ++at_;
        }
    }

    // Length of a comparison that begins here and ends a word, or stands before its value.
    size_t comparison() const {
        for (const std::string_view sign : {">=", "<=", "==", "!=", ">", "<"}) {
            if (line_.substr(at_, sign.size()) != sign)
                continue;
            const std::string_view next = line_.substr(at_ + sign.size(), 2);
            const auto digit = [](char c) { return c >= '0' && c <= '9'; };
            const bool value = (!next.empty() && digit(next[0])) ||
                               (next.size() == 2 && next[0] == 'p' && digit(next[1]));
            return next.empty() || is_blank(next[0]) || next[0] == '(' || value ? sign.size() : 0;
        }
        return 0;
    }

    void skip_quotation(char quote) {
        for (++at_; at_ < line_.size() && line_[at_] != quote; ++at_) {
            if (quote == '"' && line_[at_] == '\\')
                ++at_;
        }
        at_ = std::min(at_ + 1, line_.size());
    }

    // Behind the '>' of "f<a, b>" that begins here; 0 when there is none.
    size_t closing_angle() const {
        size_t open = 0;
        for (size_t at = at_; at < line_.size(); ++at) {
            open += line_[at] == '<';
            if (line_[at] == '>' && line_[at - 1] != '-' && --open == 0)
                return at + 1;
        }
        return 0;
    }

    // As the lexer reads the word.
    Parsed<Word> unquoted(Span span) const {
        // Behind another word: '#2' at a line's beginning would be a comment.
        auto commands = lex("x " + std::string(line_.substr(span.offset, span.length)));
        if (!commands || commands->size() != 1 || commands->front().words.size() != 2)
            return Complaint{span, "this is not one word", "quote it: '...'", Error::Kind::usage};
        Word word = std::move(commands->front().words.back());
        word.span = span;
        return word;
    }

    std::string_view line_;
    size_t at_;
    Grouping grouping_;
};

} // namespace

Parsed<std::vector<Word>> raw_words(std::string_view line, Span part, Grouping grouping) {
    return RawWords(line, part, grouping).run();
}

} // namespace auger
