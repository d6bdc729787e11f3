// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/thread_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace auger {

Parsed<pid_t> pid_of(std::string_view text, Span at, std::string_view what) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
    if (error != std::errc() || end != text.data() + text.size() || pid <= 0)
        return Complaint{at, fmt::format("\"{}\" is no {}", text, what),
                         "these are numbers from 1 to 4194304", Error::Kind::usage};
    return pid;
}

Parsed<std::vector<pid_t>> pids_of(const Word& word, std::string_view what) {
    std::vector<pid_t> pids;
    for (size_t begin = 0; begin <= word.text.size();) {
        const size_t end = std::min(word.text.find(',', begin), word.text.size());
        auto pid = pid_of(std::string_view(word.text).substr(begin, end - begin), word.span, what);
        if (!pid)
            return pid.complaint();
        pids.push_back(*pid);
        begin = end + 1;
    }
    return pids;
}

Parsed<void> check_comm(const Word& word) {
    if (word.text.empty())
        return Complaint{word.span, "an empty name matches nothing", "", Error::Kind::usage};
    if (word.text.size() > comm_limit)
        return Complaint{word.span, fmt::format("thread names have at most {} bytes", comm_limit),
                         fmt::format("did you mean \"{}\"?", word.text.substr(0, comm_limit)),
                         Error::Kind::usage};
    return {};
}

} // namespace auger
