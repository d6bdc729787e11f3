// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/sample_selection.h"

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
                return arguments.missing("what to tell apart: process, comm, tid, cgroup, cpu or "
                                         "machine");
            const Word& key = arguments.take();
            const auto* name = std::find(group_names.begin(), group_names.end(), key.text);
            if (name == group_names.end())
                return Complaint{key.span, fmt::format("\"{}\" is nothing to group by", key.text),
                                 fmt::format("one of: {}", fmt::join(group_names, ", ")),
                                 Error::Kind::usage};
            query.by = static_cast<GroupBy>(name - group_names.begin());
            continue;
        }
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
    static const std::string words = fmt::format("{}", fmt::join(group_names, " "));
    return words;
}

} // namespace auger
