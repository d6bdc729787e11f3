// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/sample_selection.h"

#include "repl/language/stack_arguments.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace auger {

Parsed<SampleSelection> parse_sample_selection(Arguments& arguments,
                                               const std::function<Parsed<bool>()>& take_option) {
    SampleSelection query;
    bool classed = false;
    while (!arguments.at_end()) {
        auto taken = take_option();
        if (!taken)
            return taken.complaint();
        if (*taken)
            continue;
        if (arguments.take_if("under")) {
            auto name = arguments.expect("a function");
            if (!name)
                return name.complaint();
            query.under = name->text;
            continue;
        }
        if (arguments.take_if("by")) {
            if (arguments.at_end())
                return arguments.missing(
                    fmt::format("what to group by: {}", fmt::join(GroupBy::names(), ", ")));
            const Word& key = arguments.take();
            const auto by = GroupBy::named(key.text);
            if (!by)
                return Complaint{key.span, fmt::format("cannot group by \"{}\"", key.text),
                                 fmt::format("one of: {}", fmt::join(GroupBy::names(), ", ")),
                                 Error::Kind::usage};
            query.by = *by;
            continue;
        }
        const auto chosen = take_frame_choice(arguments, query.frames);
        if (!chosen)
            return chosen.complaint();
        if (*chosen)
            continue;
        const Word& word = arguments.peek();
        if (word.text.starts_with('-'))
            return Complaint{word.span, fmt::format("there is no option \"{}\"", word.text),
                             fmt::format("usage: {}", arguments.usage()), Error::Kind::usage};
        if (classed)
            break; // who asked complains of what is left
        auto filter = class_of(arguments.take());
        if (!filter)
            return filter.complaint();
        query.filter = std::move(*filter);
        classed = true;
    }
    return query;
}

std::string_view group_words() {
    static const std::string words = fmt::format("{}", fmt::join(GroupBy::names(), " "));
    return words;
}

} // namespace auger
