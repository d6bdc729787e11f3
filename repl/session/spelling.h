// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of settings as the console's language has them, for commands that are saved. Pure.
#pragma once

#include "repl/session/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// A probe whose name could be taken for a part of the language is quoted.
std::string spell_probe(const std::string& text);
// "tid 4711, and comm worker", escaped; "off".
std::string filter_text(const FilterSpec& filter);
// Empty: there is none of this number.
std::string spell_probe(const Settings& settings, ProbeId id);
// "filter comm a \"b c\""
std::string spell_words(std::string command, const std::vector<std::string>& words);
template <typename Number>
std::string spell_numbers(std::string_view command, const std::vector<Number>& numbers) {
    return fmt::format("{} {}", command, fmt::join(numbers, " "));
}

// Disjunctive normal form, with parentheses that hold whatever it is joined with.
std::string spell_clauses(const std::vector<Clause>& clauses,
                          const std::function<std::string(uint32_t)>& spell_term);
std::string spell_gate(const Settings& settings, const Gate& gate);

// "4999 only handle > p95": the raised rate and its condition, behind `sample`. Empty without one.
std::string spell_raised(const Settings& settings);
// "sample wall 499 waits 9"; two commands with a raised rate, none when nothing is sampled.
std::vector<std::string> spell_sampling(const Settings& settings);

} // namespace auger
