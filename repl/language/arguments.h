// SPDX-License-Identifier: GPL-3.0-or-later
// Arguments: a cursor over a command's words, whose complaints point at the word concerned.
#pragma once

#include "repl/language/lexer.h"
#include "views/model/call_class.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

class Arguments {
  public:
    // `words` begin with the command's name; `usage` is shown where something is missing.
    Arguments(std::span<const Word> words, std::string_view line, std::string_view usage)
        : words_(words), line_(line), usage_(usage) {}

    bool at_end() const { return next_ >= words_.size(); }
    size_t left() const { return words_.size() - next_; }
    // Must not be at the end.
    const Word& peek() const { return words_[next_]; }
    const Word& take() { return words_[next_++]; }
    // Takes the next word if it is this one (unquoted).
    bool take_if(std::string_view text);

    // The next word; `what` says what is missing when there is none ("a probe").
    Parsed<Word> expect(std::string_view what);
    // The next word as one of `choices`, or an unambiguous beginning of one; its index.
    Parsed<size_t> expect_choice(std::string_view what, std::span<const std::string> choices);
    Parsed<void> expect_end() const;

    Complaint missing(std::string_view what) const;
    // About the words from the first taken one of `begin` to the last taken.
    Span since(size_t begin) const;
    // From the next word to the command's end, as written; must not be at the end.
    Span rest() const;
    void take_rest() { next_ = words_.size(); }
    Span span_of(size_t position) const { return words_[position].span; }
    size_t position() const { return next_; }
    std::string_view line() const { return line_; }
    std::string_view usage() const { return usage_; }

  private:
    std::span<const Word> words_;
    std::string_view line_;
    std::string_view usage_;
    size_t next_ = 1;
};

// A class: parts joined by '+', which are slow, fast, open or outside, a range of durations
// (10ms..50ms, 10ms.., ..50ms), taken or not-taken, and =VALUE; or "all". Complains about the part
// that is none. Parts may be abbreviated unless `exact`.
Parsed<ClassFilter> class_of(const Word& word, bool exact = false);
// "10ms..50ms": certainly no probe, even when it makes no sense.
bool looks_like_range(const Word& word);
// The next word, if it is a class; nothing taken else.
std::optional<ClassFilter> take_class(Arguments& arguments);

// "-n ROWS", if it stands there. (A number alone could be a probe's.)
Parsed<std::optional<size_t>> take_rows(Arguments& arguments);

} // namespace auger
