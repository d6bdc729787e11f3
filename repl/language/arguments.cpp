// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/arguments.h"

#include "repl/language/suggest.h"
#include "repl/language/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

namespace {

// "10ms..50ms", "10ms..", "..50ms"; it has the two points.
Parsed<DurationRange> range_of(const std::string& text, Span at, bool quoted) {
    const size_t points = text.find("..");
    const Word first{text.substr(0, points), quoted ? at : Span{at.offset, points}};
    const size_t end = points + 2;
    const Word last{text.substr(end), quoted ? at : Span{at.offset + end, text.size() - end}};
    DurationRange range;
    if (!first.text.empty()) {
        auto from = duration_of(first);
        if (!from)
            return from.complaint();
        range.from_ns = *from;
    }
    if (!last.text.empty()) {
        auto to = duration_of(last);
        if (!to)
            return to.complaint();
        range.to_ns = *to;
    }
    if (first.text.empty() && last.text.empty())
        return Complaint{at, "a range of durations needs a bound",
                         "write 10ms..50ms, 10ms.. or ..50ms", Error::Kind::usage};
    if (range.to_ns <= range.from_ns)
        return Complaint{at, fmt::format("no duration is in \"{}\"", text),
                         "a range is from its first duration up to, but without, its second",
                         Error::Kind::usage};
    return range;
}

const std::vector<std::string>& class_names() {
    static const std::vector<std::string> names{"slow",  "fast",      "open", "outside",
                                                "taken", "not-taken", "all"};
    return names;
}

// Whether behind a + stands another part of a class. A function's name may hold that sign, too:
// "operator+", "operator+=".
bool begins_part(std::string_view rest) {
    const std::string_view part = rest.substr(0, rest.find('+'));
    return (rest.starts_with('=') && rest.size() > 1) || part.starts_with("host=") ||
           part.starts_with("host!=") || part.starts_with("in=") || part.starts_with("in!=") ||
           part.find("..") != part.npos ||
           std::ranges::find(class_names(), part) != class_names().end();
}

// Where the part of a class that begins here ends.
size_t end_of_part(std::string_view text, size_t begin) {
    const std::string_view part = text.substr(begin);
    const bool is_function = part.starts_with("in=") || part.starts_with("in!=");
    size_t end = text.find('+', begin);
    while (is_function && end != text.npos && !begins_part(text.substr(end + 1)))
        end = text.find('+', end + 1);
    return std::min(end, text.size());
}

// "host=web1", "host!=web1" for the key "host": a HostChoice, or a StackChoice likewise.
template <typename Choice>
std::optional<Choice> choice_of(std::string_view key, std::string_view part) {
    if (!part.starts_with(key))
        return std::nullopt;
    part.remove_prefix(key.size());
    const bool others = part.starts_with("!=");
    if (!others && !part.starts_with('='))
        return std::nullopt;
    return Choice{std::string(part.substr(others ? 2 : 1)), others};
}

} // namespace

Parsed<ClassFilter> class_of(const Word& word, bool exact) {
    const std::vector<std::string>& names = class_names();
    ClassFilter filter;
    for (size_t begin = 0; begin <= word.text.size();) {
        if (begin < word.text.size() && word.text[begin] == '=') { // the rest is its value
            filter.label = word.text.substr(begin + 1);
            return filter;
        }
        const size_t end = end_of_part(word.text, begin);
        const std::string part = word.text.substr(begin, end - begin);
        const Span at = word.quoted ? word.span : Span{word.span.offset + begin, end - begin};
        const auto twice = [&] {
            return Complaint{at, fmt::format("\"{}\" excludes what stands before it", part), "",
                             Error::Kind::usage};
        };
        if (const auto host = choice_of<HostChoice>("host", part)) {
            if (host->name.empty())
                return Complaint{at, "a host's name is missing", "as in host=web1",
                                 Error::Kind::usage};
            if (filter.host)
                return twice();
            filter.host = *host;
            begin = end + 1;
            continue;
        }
        if (const auto in = choice_of<StackChoice>("in", part)) {
            if (in->function.empty())
                return Complaint{at, "a function's name is missing",
                                 "as in in=parse or in=py:app.handler", Error::Kind::usage};
            if (filter.in)
                return Complaint{
                    at, "a class asks for one function on the stack",
                    "\"only in py:app.handler and not in py:app.log\" asks for several",
                    Error::Kind::usage};
            filter.in = *in;
            begin = end + 1;
            continue;
        }
        if (part.find("..") != part.npos) {
            auto range = range_of(part, at, word.quoted);
            if (!range)
                return range.complaint();
            if (filter.range)
                return twice();
            filter.range = *range;
            begin = end + 1;
            continue;
        }
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
                hint = fmt::format("one of: {}, 10ms..50ms, host=NAME, in=FUNCTION, =VALUE; "
                                   "joined by +",
                                   fmt::join(names, ", "));
            return Complaint{at,
                             meant.empty() ? fmt::format("\"{}\" is not a class", part)
                                           : fmt::format("\"{}\" is ambiguous", part),
                             std::move(hint), Error::Kind::usage};
        }
        const std::string& name = meant.front();
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

bool looks_like_range(const Word& word) {
    const size_t points = word.text.find("..");
    return !word.quoted && points != word.text.npos &&
           (points == 0 || (word.text[0] >= '0' && word.text[0] <= '9')) &&
           word.text.find('/') == word.text.npos;
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
