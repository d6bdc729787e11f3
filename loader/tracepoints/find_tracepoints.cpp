// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/tracepoints/find_tracepoints.h"

#include "loader/probes/edit_distance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace auger {
namespace {

constexpr std::string_view prefix = "tracepoint:";
constexpr std::string_view call_prefix = "syscall:";
constexpr std::string_view calls = "syscalls";
constexpr std::string_view enter = "sys_enter_", leave = "sys_exit_";
constexpr size_t most_near = 5;

bool contains(const std::vector<std::string>& sorted, const std::string& name) {
    return std::ranges::binary_search(sorted, name);
}

// What holds the text, when no typing mistake explains it.
std::vector<std::string> near(std::string_view wanted, const std::vector<std::string>& names) {
    std::vector<std::string> found = near_names(wanted, names, most_near);
    for (const std::string& name : names)
        if (found.size() < most_near && wanted.size() > 2 && name.find(wanted) != name.npos &&
            std::ranges::find(found, name) == found.end())
            found.push_back(name);
    return found;
}

Error no_such(const Tracefs& tracefs, const ProbePattern& pattern) {
    const auto hint = [](const std::vector<std::string>& close) {
        return close.empty() ? std::string("\"probes tracepoint\" lists those that there are")
                             : fmt::format("did you mean {}?", fmt::join(close, ", "));
    };
    if (pattern.function_is_glob)
        return not_found(pattern, "no such tracepoint", hint({}));
    if (!contains(tracefs.categories(), pattern.category)) {
        // The name may be another category's.
        std::vector<std::string> close;
        for (const std::string& category : tracefs.categories())
            if (contains(tracefs.names(category), pattern.function))
                close.push_back(fmt::format("{}{}:{}", prefix, category, pattern.function));
        if (close.empty())
            close = near(pattern.category, tracefs.categories());
        return not_found(
            pattern, fmt::format("the kernel has no tracepoint category \"{}\"", pattern.category),
            hint(close));
    }
    return not_found(
        pattern,
        fmt::format("no tracepoint \"{}\" in category \"{}\"", pattern.function, pattern.category),
        hint(near(pattern.function, tracefs.names(pattern.category))));
}

// Suffixes of begin and end, of which the first that is there counts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> pairs{{
    {"_enter", "_exit"},
    {"_entry", "_exit"},
    {"_begin", "_end"},
    {"_start", "_end"},
    {"_start", "_done"},
    {"_start", "_stop"},
    {"_start", "_finish"},
    {"_start", "_complete"},
    {"_issue", "_complete"},
    {"_submit", "_complete"},
    {"_submit", "_done"},
    {"_queue", "_complete"},
}};

std::vector<TracepointName> look_up(const Tracefs& tracefs, const ProbePattern& pattern) {
    std::vector<TracepointName> found;
    if (!pattern.function_is_glob) {
        if (contains(tracefs.names(pattern.category), pattern.function))
            found.push_back({pattern.category, pattern.function});
    } else {
        for (const std::string& category : tracefs.categories()) {
            if (!glob_match(pattern.category, category))
                continue;
            for (const std::string& name : tracefs.names(category))
                if (glob_match(pattern.function, name))
                    found.push_back({category, name});
        }
    }
    return found;
}

} // namespace

bool is_of_system_calls(std::string_view category) {
    return category == calls || category == "raw_syscalls";
}

Result<std::vector<TracepointName>> find_tracepoints(const Tracefs& tracefs,
                                                     const ProbePattern& pattern, size_t limit) {
    if (!tracefs.available()) {
        Error error = tracefs.fault();
        error.subject = pattern.text;
        return error;
    }
    std::vector<TracepointName> found = look_up(tracefs, pattern);
    // A module may have brought it meanwhile.
    if (found.empty()) {
        tracefs.forget();
        found = look_up(tracefs, pattern);
    }
    if (found.empty())
        return no_such(tracefs, pattern);
    if (found.size() > limit)
        return not_found(
            pattern, fmt::format("matches {} tracepoints; the limit is {}", found.size(), limit),
            "write more of the name");
    return found;
}

std::vector<std::string> complete_tracepoints(const Tracefs& tracefs, std::string_view text,
                                              size_t limit) {
    std::vector<std::string> all;
    const auto add = [&](std::string name) {
        if (all.size() < limit && name.starts_with(text))
            all.push_back(std::move(name));
    };
    if (text.starts_with(call_prefix)) {
        for (const std::string& name : tracefs.names(std::string(calls)))
            if (name.starts_with(enter))
                add(fmt::format("{}{}", call_prefix, name.substr(enter.size())));
        return all;
    }
    if (!text.starts_with(prefix))
        return all;
    const std::string_view rest = text.substr(prefix.size());
    const size_t colon = rest.find(':');
    if (colon == rest.npos) {
        for (const std::string& category : tracefs.categories())
            add(fmt::format("{}{}:", prefix, category));
        // One alone is gone on with.
        if (all.size() != 1)
            return all;
        const std::string whole = std::exchange(all, {}).front();
        return complete_tracepoints(tracefs, whole, limit);
    }
    const std::string category(rest.substr(0, colon));
    for (const std::string& name : tracefs.names(category))
        add(fmt::format("{}{}:{}", prefix, category, name));
    return all;
}

std::optional<TracepointName> end_of_pair(const Tracefs& tracefs, const TracepointName& begin) {
    const std::vector<std::string>& names = tracefs.names(begin.category);
    std::string other;
    if (begin.category == calls && begin.name.starts_with(enter)) {
        other = fmt::format("{}{}", leave, begin.name.substr(enter.size()));
        if (contains(names, other))
            return TracepointName{begin.category, other};
        return std::nullopt;
    }
    // LiveProbes::no_point() refuses them.
    if (begin.category == "lock" || begin.category == "kmem")
        return std::nullopt;
    for (const auto& [first, last] : pairs) {
        if (!begin.name.ends_with(first))
            continue;
        other = begin.name.substr(0, begin.name.size() - first.size());
        other += last;
        if (contains(names, other))
            return TracepointName{begin.category, other};
    }
    return std::nullopt;
}

} // namespace auger
