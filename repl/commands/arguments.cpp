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

Span Arguments::rest() const {
    const Span first = peek().span, last = words_.back().span;
    return {first.offset, last.offset + last.length - first.offset};
}

Parsed<ClassFilter> class_of(const Word& word, bool exact) {
    static const std::vector<std::string> names{"slow",  "fast",      "open", "outside",
                                                "taken", "not-taken", "all"};
    ClassFilter filter;
    for (size_t begin = 0; begin <= word.text.size();) {
        if (begin < word.text.size() && word.text[begin] == '=') { // the rest is its value
            filter.label = word.text.substr(begin + 1);
            return filter;
        }
        const size_t end = std::min(word.text.find('+', begin), word.text.size());
        const std::string part = word.text.substr(begin, end - begin);
        const Span at = word.quoted ? word.span : Span{word.span.offset + begin, end - begin};
        // Exactly, or as an unambiguous beginning.
        std::vector<std::string> meant;
        for (const std::string& name : names) {
            if (name == part)
                meant = {name};
            if (name == part)
                break;
            if (!exact && !part.empty() && name.starts_with(part))
                meant.push_back(name);
        }
        if (meant.size() != 1) {
            std::string hint = did_you_mean(part, names);
            if (hint.empty())
                hint = fmt::format("one of: {}, =VALUE; joined by +", fmt::join(names, ", "));
            return Complaint{at,
                             meant.empty() ? fmt::format("\"{}\" is not a class", part)
                                           : fmt::format("\"{}\" is ambiguous", part),
                             std::move(hint), Error::Kind::usage};
        }
        const std::string& name = meant.front();
        const auto twice = [&] {
            return Complaint{at, fmt::format("\"{}\" excludes what stands before it", part), "",
                             Error::Kind::usage};
        };
        if (name == "taken" || name == "not-taken") {
            if (filter.taken)
                return twice();
            filter.taken = name == "taken";
        } else if (name != "all") {
            if (filter.duration)
                return twice();
            for (const CallClass c : all_call_classes) {
                if (to_string(c) == name)
                    filter.duration = c;
            }
        }
        begin = end + 1;
    }
    return filter;
}

std::optional<ClassFilter> take_class(Arguments& arguments) {
    if (arguments.at_end() || arguments.peek().comparison || arguments.peek().text == "=")
        return std::nullopt;
    const Word& word = arguments.peek();
    const char first = arguments.line()[word.span.offset];
    if (first == '\'' || first == '"')
        return std::nullopt;
    auto filter = class_of(word, true);
    if (!filter)
        return std::nullopt;
    arguments.take();
    return *filter;
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
