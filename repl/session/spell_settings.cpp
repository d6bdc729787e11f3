// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/spell_settings.h"

#include "repl/commands/table.h"
#include "views/spell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace auger {
namespace {

// A probe whose name could be taken for a part of the language is quoted.
std::string spell_probe(const std::string& text) {
    constexpr std::array<std::string_view, 12> keywords{
        "at", "by", "in", "if", "and", "or", "not", "pid", "tid", "comm", "cgroup", "off"};
    return std::ranges::find(keywords, text) == keywords.end() ? spell_word(text)
                                                               : quote_word(text);
}

std::string spell_words(std::string command, const std::vector<std::string>& words) {
    for (const std::string& word : words)
        command += " " + spell_word(word);
    return command;
}

template <typename Number>
std::string spell_numbers(std::string_view command, const std::vector<Number>& numbers) {
    return fmt::format("{} {}", command, fmt::join(numbers, " "));
}

struct Speller {
    const Settings& settings;
    std::vector<std::string> lines{};

    std::string probe(ProbeId id) const {
        const ProbeSetting* probe = settings.find(id);
        return probe ? spell_probe(probe->text) : std::string();
    }

    void target() {
        const TargetSpec& target = settings.target;
        switch (target.kind) {
        case TargetSpec::Kind::pids:
            return lines.push_back(spell_numbers("target -p", target.pids));
        case TargetSpec::Kind::name:
            return lines.push_back(
                "target -n " + spell_word(target.name) +
                (target.user.empty() ? "" : " user " + spell_word(target.user)) +
                (target.cgroup.empty() ? "" : " cgroup " + spell_word(target.cgroup)));
        case TargetSpec::Kind::all:
            return lines.push_back("target -a");
        case TargetSpec::Kind::command:
            return lines.push_back(spell_words("target --", target.command));
        case TargetSpec::Kind::none:
            break;
        }
    }

    void filter() {
        const FilterSpec& filter = settings.filter;
        if (!filter.pids.empty())
            lines.push_back(spell_numbers("filter pid", filter.pids));
        if (!filter.tids.empty())
            lines.push_back(spell_numbers("filter tid", filter.tids));
        if (!filter.comms.empty())
            lines.push_back(spell_words("filter comm", filter.comms));
        if (!filter.cgroups.empty())
            lines.push_back(spell_words("filter cgroup", filter.cgroups));
    }

    void timed(const ProbeSetting& probe) {
        const std::string name = spell_probe(probe.text);
        const CallConditions& conditions = probe.conditions;
        if (probe.slow.kind == Threshold::Kind::none) {
            lines.push_back("time " + name);
        } else {
            std::string line = fmt::format("slow {} > {}", name, spell_threshold(probe.slow));
            if (!conditions.slow_if.empty())
                line += " if " + conditions.slow_if;
            if (!conditions.show_default)
                line += fmt::format(" show {}",
                                    conditions.show.empty()
                                        ? "off"
                                        : fmt::format("{}", fmt::join(conditions.show, ", ")));
            lines.push_back(std::move(line));
        }
        if (!conditions.only_if.empty())
            lines.push_back(fmt::format("only {} if {}", name, conditions.only_if));
        if (probe.off)
            lines.push_back(fmt::format("time {} off", name));
    }

    void overhead() {
        const OverheadLimit& limit = settings.overhead;
        if (!(limit == OverheadLimit()))
            lines.push_back(limit.brakes ? fmt::format("overhead {:g}", limit.percent)
                                         : "overhead off");
    }

    void split() {
        const SplitSetting& split = settings.split;
        if (!split.active)
            return;
        std::string line = "split " + probe(split.probe);
        if (split.threshold.kind != Threshold::Kind::none)
            line += fmt::format(" > {}{}", spell_threshold(split.threshold),
                                split.so_far ? " so-far" : "");
        if (!split.branch.empty())
            line += " " + split.branch;
        if (!split.label.empty())
            line += " by " + split.label;
        lines.push_back(std::move(line));
    }

    std::string term(const GateTerm& term) const {
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
        return term.older.kind == Threshold::Kind::none
                   ? "in " + probe(term.probe)
                   : fmt::format("{} > {}", probe(term.probe), spell_threshold(term.older));
    }

    // Disjunctive normal form, with parentheses that hold whatever it is joined with.
    template <typename Spell>
    static std::string spell(const std::vector<Clause>& clauses, Spell spell_term) {
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

    std::string gate(const Gate& gate) const {
        return spell(gate.clauses, [&](uint32_t i) { return term(gate.terms[i]); });
    }

    void only() {
        const OnlyInfo& only = settings.only;
        if (only.text.empty())
            return;
        if (!has_numbers(only.text))
            return lines.push_back("only " + only.text);
        std::string text = only.gate.empty() ? "" : gate(only.gate);
        if (!only.line_clauses.empty())
            text += (text.empty() ? "" : " and ") + spell(only.line_clauses, [&](uint32_t i) {
                        return "at " + spell_word(only.lines[i]);
                    });
        lines.push_back("only " + text);
    }

    // Whether probes are named by numbers, which another session gives otherwise.
    static bool has_numbers(const std::string& text) {
        const std::string line = "only " + text;
        const auto commands = commands_of(line);
        if (!commands || (*commands).size() != 1)
            return true;
        const auto parsed = parse_command((*commands)[0], line);
        const auto* only = parsed ? std::get_if<OnlyCommand>(&(*parsed).command) : nullptr;
        return !only || std::ranges::any_of(only->condition.probes, [](const auto& probe) {
            return probe && probe->number;
        });
    }

    void sampling() {
        const SamplingSettings& sampling = settings.sampling;
        const std::string wall = sampling.wall ? "wall " : "";
        if (sampling.rate_hz != 0)
            lines.push_back(fmt::format("sample {}{}{}{}", wall, sampling.wakers ? "wakers " : "",
                                        sampling.rate_hz, waits()));
        if (sampling.raised_hz != 0)
            lines.push_back(fmt::format("sample {}{}", wall, raised()));
    }

    std::string waits() const {
        return settings.sampling.wall && settings.sampling.waits_hz
                   ? fmt::format(" waits {}", settings.sampling.waits_hz)
                   : "";
    }

    std::string raised() const {
        return fmt::format("{}{} only {}", settings.sampling.raised_hz, waits(),
                           gate(settings.sampling.raised));
    }

    void services() {
        const IntervalFiles& files = settings.intervals;
        if (!files.folder.empty()) {
            std::string line = fmt::format("record {} every {} keep {}", spell_word(files.folder),
                                           spell_duration(files.every_ns), files.keep);
            for (const ExportFormat* format : files.formats)
                line += fmt::format(" {}", format->name);
            lines.push_back(std::move(line));
        }
        for (const Trigger& trigger : settings.triggers) {
            const ProbeSetting* probe = settings.find(trigger.probe);
            lines.push_back(fmt::format("on slow {} > {} record last {} in {} every {} keep {}",
                                        spell_probe(probe->text), spell_threshold(probe->slow),
                                        spell_duration(trigger.span_ns), spell_word(trigger.folder),
                                        spell_duration(trigger.rest_ns), trigger.keep));
        }
        for (const ServedAddress& served : settings.serving) {
            std::string line = "serve " + spell_word(served.address);
            if (!served.token_file.empty())
                line += " token " + spell_word(served.token_file);
            lines.push_back(std::move(line));
        }
    }

    void rules() {
        for (const Rule& rule : settings.rules)
            lines.push_back(spell_rule(rule));
    }

    void window() {
        const Window& window = settings.window;
        if (window.kind != Window::Kind::all && window.end_ns == Window{}.end_ns)
            lines.push_back(fmt::format("{} {}",
                                        window.kind == Window::Kind::last ? "window" : "ewma",
                                        spell_duration(window.span_ns)));
    }
};

} // namespace

std::string spell_raised(const Settings& settings) {
    return settings.sampling.raised_hz ? Speller{settings}.raised() : std::string();
}

std::string spell_sampling(const Settings& settings) {
    Speller speller{settings};
    speller.sampling();
    return speller.lines.empty() ? "sample off" : fmt::format("{}", fmt::join(speller.lines, "; "));
}

std::vector<std::string> spell_settings(const Settings& settings) {
    Speller speller{settings};
    if (settings.way_out != WayOut::automatic)
        speller.lines.push_back(settings.way_out == WayOut::ret ? "exit ret" : "exit trampoline");
    speller.overhead();
    speller.target();
    speller.filter();
    for (const ProbeSetting& probe : settings.probes)
        speller.timed(probe);
    speller.split();
    speller.only();
    speller.sampling();
    speller.window();
    speller.rules();
    speller.services();
    return std::move(speller.lines);
}

} // namespace auger
