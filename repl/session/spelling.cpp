// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/spelling.h"

#include "views/escape.h"
#include "views/spell.h"

#include <algorithm>
#include <array>

namespace auger {
namespace {

std::string spell_term(const Settings& settings, const GateTerm& term) {
    switch (term.kind) {
    case GateTerm::Kind::pid:
        return fmt::format("pid {}", term.number);
    case GateTerm::Kind::tid:
        return fmt::format("tid {}", term.number);
    case GateTerm::Kind::comm:
        return "comm " + spell_word(term.text);
    case GateTerm::Kind::cgroup:
        return "cgroup " + spell_word(term.text);
    case GateTerm::Kind::call:
        break;
    }
    const std::string probe = spell_probe(settings, term.probe);
    return term.older.kind == Threshold::Kind::none
               ? "in " + probe
               : fmt::format("{} > {}", probe, spell_threshold(term.older));
}

std::string spell_waits(const SamplingSettings& sampling) {
    return sampling.wall && sampling.waits_hz ? fmt::format(" waits {}", sampling.waits_hz) : "";
}

} // namespace

std::string spell_probe(const std::string& text) {
    constexpr std::array<std::string_view, 12> keywords{
        "at", "by", "in", "if", "and", "or", "not", "pid", "tid", "comm", "cgroup", "off"};
    return std::ranges::find(keywords, text) == keywords.end() ? spell_word(text)
                                                               : quote_word(text);
}

std::string spell_probe(const Settings& settings, ProbeId id) {
    const ProbeSetting* probe = settings.find(id);
    return probe ? spell_probe(probe->text) : std::string();
}

std::string spell_words(std::string command, const std::vector<std::string>& words) {
    for (const std::string& word : words)
        command += " " + spell_word(word);
    return command;
}

std::string spell_clauses(const std::vector<Clause>& clauses,
                          const std::function<std::string(uint32_t)>& spell_term) {
    std::vector<std::string> either;
    for (const Clause& clause : clauses) {
        std::vector<std::string> both;
        for (const uint32_t i : clause.all)
            both.push_back(spell_term(i));
        for (const uint32_t i : clause.none)
            both.push_back("not " + spell_term(i));
        either.push_back(fmt::format("{}", fmt::join(both, " and ")));
    }
    if (either.size() == 1)
        return either[0];
    return fmt::format("(({}))", fmt::join(either, ") or ("));
}

std::string spell_gate(const Settings& settings, const Gate& gate) {
    return spell_clauses(gate.clauses,
                         [&](uint32_t i) { return spell_term(settings, gate.terms[i]); });
}

std::string spell_raised(const Settings& settings) {
    const SamplingSettings& sampling = settings.sampling;
    return sampling.raised_hz
               ? fmt::format("{}{} only {}", sampling.raised_hz, spell_waits(sampling),
                             spell_gate(settings, sampling.raised))
               : std::string();
}

std::string filter_text(const FilterSpec& filter) {
    std::vector<std::string> kinds;
    if (!filter.pids.empty())
        kinds.push_back(fmt::format("pid {}", fmt::join(filter.pids, " or ")));
    if (!filter.tids.empty())
        kinds.push_back(fmt::format("tid {}", fmt::join(filter.tids, " or ")));
    if (!filter.comms.empty())
        kinds.push_back(escape_untrusted(fmt::format("comm {}", fmt::join(filter.comms, " or "))));
    if (!filter.cgroups.empty())
        kinds.push_back(
            escape_untrusted(fmt::format("cgroup {}", fmt::join(filter.cgroups, " or "))));
    return kinds.empty() ? "off" : fmt::format("{}", fmt::join(kinds, ", and "));
}

std::vector<std::string> spell_sampling(const Settings& settings) {
    const SamplingSettings& sampling = settings.sampling;
    const std::string wall = sampling.wall ? "wall " : "";
    std::string stacks = sampling.tasks ? "tasks " : "";
    if (!sampling.go_label.empty())
        stacks += fmt::format("golabel {} ", quote_word(sampling.go_label));
    std::vector<std::string> lines;
    if (sampling.rate_hz != 0)
        lines.push_back(fmt::format("sample {}{}{}{}{}", wall, sampling.wakers ? "wakers " : "",
                                    stacks, sampling.rate_hz, spell_waits(sampling)));
    if (sampling.raised_hz != 0)
        lines.push_back(fmt::format("sample {}{}{}{}", wall,
                                    sampling.wakers && sampling.rate_hz == 0 ? "wakers " : "",
                                    stacks, spell_raised(settings)));
    return lines;
}

} // namespace auger
