// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/commands/arguments.h"

#include "repl/language/suggest.h"
#include "repl/language/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace auger {

bool Arguments::take_if(std::string_view text) {
    if (at_end() || peek().quoted || peek().text != text)
        return false;
    ++next_;
    return true;
}

Complaint Arguments::missing(std::string_view what) const {
    const Span last = words_.back().span;
    return {{last.offset + last.length, 1},
            fmt::format("{} is missing here", what),
            fmt::format("usage: {}", usage_),
            Error::Kind::usage};
}

Parsed<Word> Arguments::expect(std::string_view what) {
    if (at_end())
        return missing(what);
    return take();
}

Parsed<size_t> Arguments::expect_choice(std::string_view what,
                                        std::span<const std::string> choices) {
    if (at_end())
        return missing(what);
    const Word& word = peek();
    std::vector<size_t> beginning;
    for (size_t i = 0; i < choices.size(); ++i) {
        if (choices[i] == word.text) {
            ++next_;
            return i;
        }
        if (!word.text.empty() && choices[i].starts_with(word.text))
            beginning.push_back(i);
    }
    if (beginning.size() == 1) {
        ++next_;
        return beginning[0];
    }
    std::string hint = did_you_mean(word.text, choices);
    if (hint.empty())
        hint = fmt::format("one of: {}", fmt::join(choices, ", "));
    return Complaint{word.span,
                     beginning.empty() ? fmt::format("\"{}\" is not {}", word.text, what)
                                       : fmt::format("\"{}\" is ambiguous", word.text),
                     std::move(hint), Error::Kind::usage};
}

Parsed<void> Arguments::expect_end() const {
    if (at_end())
        return {};
    return Complaint{peek().span, fmt::format("\"{}\" is too much here", peek().text),
                     fmt::format("usage: {}", usage_), Error::Kind::usage};
}

Span Arguments::since(size_t begin) const {
    if (begin >= next_)
        return words_.back().span;
    const Span first = words_[begin].span, last = words_[next_ - 1].span;
    return {first.offset, last.offset + last.length - first.offset};
}

std::optional<ClassFilter> take_class(Arguments& arguments) {
    if (arguments.take_if("all"))
        return std::make_optional<ClassFilter>(std::nullopt);
    for (const CallClass c : all_call_classes) {
        if (arguments.take_if(to_string(c)))
            return ClassFilter{c};
    }
    return std::nullopt;
}

Parsed<std::optional<size_t>> take_rows(Arguments& arguments) {
    if (!arguments.take_if("-n"))
        return std::optional<size_t>();
    if (arguments.at_end())
        return arguments.missing("a number of rows");
    const Word& word = arguments.take();
    auto count = count_of(word);
    if (!count)
        return count.complaint();
    if (*count == 0)
        return Complaint{word.span, "0 rows show nothing", "", Error::Kind::usage};
    return std::optional<size_t>(static_cast<size_t>(*count));
}

} // namespace auger
