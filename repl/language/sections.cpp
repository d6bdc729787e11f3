// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/sections.h"

#include "loader/values/text_checks.h"
#include "repl/language/raw_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

Complaint complaint_within(const Error& error, Span text) {
    Span at = text;
    if (error.at && error.at->offset <= text.length)
        at = {text.offset + error.at->offset,
              std::min(error.at->length, text.length - error.at->offset)};
    return {at, error.cause.empty() ? error.message() : error.cause, error.hint,
            Error::Kind::usage};
}

// The parts of a list, without the blanks around them.
std::vector<Span> split_list(std::string_view text, Span at) {
    std::vector<Span> parts;
    size_t begin = 0, open = 0;
    char quote = 0;
    const auto add = [&](size_t end) {
        size_t from = begin, to = end;
        while (from < to && (text[from] == ' ' || text[from] == '\t'))
            ++from;
        while (to > from && (text[to - 1] == ' ' || text[to - 1] == '\t'))
            --to;
        parts.push_back({at.offset + from, to - from});
        begin = end + 1;
    };
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else {
            open += c == '(';
            open -= c == ')' && open > 0;
            if (c == ',' && open == 0)
                add(i);
        }
    }
    add(text.size());
    return parts;
}

} // namespace

Parsed<std::vector<Section>> parse_sections(Arguments& arguments,
                                            std::span<const std::string_view> keywords) {
    std::vector<Section> sections;
    if (arguments.at_end())
        return sections;
    auto words = raw_words(arguments.line(), arguments.rest(), Grouping::whole);
    if (!words)
        return words.complaint();
    for (const Word& word : *words) {
        const auto keyword = std::ranges::find(keywords, word.text);
        if (keyword != keywords.end() && !word.quoted) {
            if (std::ranges::find(sections, word.text, &Section::keyword) != sections.end())
                return Complaint{word.span,
                                 fmt::format("there is another \"{}\" already", word.text), "",
                                 Error::Kind::usage};
            sections.push_back({*keyword, {}, {word.span.offset + word.span.length, 0}});
            continue;
        }
        if (sections.empty())
            return Complaint{word.span, fmt::format("\"{}\" is too much here", word.text),
                             fmt::format("usage: {}", arguments.usage()), Error::Kind::usage};
        Section& section = sections.back();
        if (section.at.length == 0)
            section.at.offset = word.span.offset;
        section.at.length = word.span.offset + word.span.length - section.at.offset;
    }
    arguments.take_rest();
    for (Section& section : sections) {
        section.text = arguments.line().substr(section.at.offset, section.at.length);
        if (section.text.empty())
            return Complaint{{section.at.offset, 1},
                             fmt::format("something is missing after \"{}\"", section.keyword),
                             fmt::format("usage: {}", arguments.usage()),
                             Error::Kind::usage};
    }
    return sections;
}

Parsed<std::string> predicate_of(const Section& section) {
    if (auto checked = check_predicate(section.text); !checked)
        return complaint_within(checked.error(), section.at);
    return section.text;
}

Parsed<std::string> expression_of(const Section& section) {
    if (auto checked = check_expression(section.text); !checked)
        return complaint_within(checked.error(), section.at);
    return section.text;
}

Parsed<std::vector<std::string>> expressions_of(const Section& section) {
    std::vector<std::string> expressions;
    for (const Span at : split_list(section.text, section.at)) {
        std::string text = section.text.substr(at.offset - section.at.offset, at.length);
        if (text.empty())
            return Complaint{
                {at.offset, 1}, "an expression is missing here", "", Error::Kind::usage};
        auto expression = expression_of({section.keyword, std::move(text), at});
        if (!expression)
            return expression.complaint();
        expressions.push_back(std::move(*expression));
    }
    return expressions;
}

} // namespace auger
