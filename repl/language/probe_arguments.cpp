// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/probe_arguments.h"

#include "repl/language/values.h"

#include <fmt/format.h>

#include <charconv>

namespace auger {

ProbeRef probe_ref(const Word& word) {
    ProbeRef probe{word.text, std::nullopt, word.span};
    std::string_view digits = word.text;
    if (digits.starts_with('#'))
        digits.remove_prefix(1);
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (!digits.empty() && error == std::errc() && end == digits.data() + digits.size())
        probe.number = number;
    return probe;
}

Parsed<ProbeRef> parse_probe(Arguments& arguments) {
    if (!arguments.at_end() && arguments.peek().comparison)
        return Complaint{arguments.peek().span, "a probe is missing before this",
                         fmt::format("usage: {}", arguments.usage()), Error::Kind::usage};
    auto word = arguments.expect("a probe");
    if (!word)
        return word.complaint();
    if (word->text.empty())
        return Complaint{word->span, "a probe cannot be empty", "", Error::Kind::usage};
    return probe_ref(*word);
}

Parsed<Threshold> parse_threshold_value(Arguments& arguments, const ProbeRef& probe) {
    if (!arguments.take_if(">") && !arguments.take_if(">=") && !arguments.at_end() &&
        arguments.peek().comparison)
        return Complaint{arguments.peek().span, "slow calls are those above a threshold", "write >",
                         Error::Kind::usage};
    if (arguments.at_end()) {
        const size_t sign = probe.text.rfind('>');
        if (sign != std::string::npos && sign + 1 < probe.text.size() &&
            (read_duration(probe.text.substr(sign + 1)) ||
             read_percentile(probe.text.substr(sign + 1))))
            return Complaint{probe.at, "blanks are missing around \">\"",
                             fmt::format("write {} > {}", probe.text.substr(0, sign),
                                         probe.text.substr(sign + 1)),
                             Error::Kind::usage};
        return arguments.missing("a threshold (p95, 5ms)");
    }
    return threshold_of(arguments.take());
}

} // namespace auger
