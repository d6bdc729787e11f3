// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recorded_answers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace auger {
namespace {

std::string duration_text(uint64_t ns) {
    if (ns % 1'000'000'000 == 0)
        return fmt::format("{}s", ns / 1'000'000'000);
    if (ns % 1'000'000 == 0)
        return fmt::format("{}ms", ns / 1'000'000);
    if (ns % 1'000 == 0)
        return fmt::format("{}us", ns / 1'000);
    return fmt::format("{}ns", ns);
}

std::string threshold_text(const Threshold& threshold) {
    if (threshold.kind == Threshold::Kind::percentile)
        return fmt::format("> p{:g}", threshold.percentile);
    return "> " + duration_text(threshold.fixed_ns);
}

// The fact that was known last.
const RecordedFact* last_known(const std::vector<RecordedFact>& facts, ProbeId probe,
                               const std::string& text) {
    for (auto fact = facts.rbegin(); fact != facts.rend(); ++fact)
        if (fact->mark.text == text && (!fact->probe || *fact->probe == probe))
            return &*fact;
    return nullptr;
}

Error not_watched(std::string operation, std::string subject,
                  const std::vector<RecordedFact>& facts) {
    std::set<std::string> had;
    for (const RecordedFact& fact : facts)
        had.insert(fact.mark.text);
    return {std::move(operation), std::move(subject), "that was not watched in the recording",
            had.empty() ? "no line and no predicate was"
                        : fmt::format("it has {}", fmt::join(had, ", "))};
}

} // namespace

bool recorded_slow(const RecordedProbe& probe, const Threshold& asked) {
    if (asked.kind == Threshold::Kind::none)
        return true;
    return std::any_of(probe.slow.begin(), probe.slow.end(), [&](const Threshold& had) {
        return had == asked || (had.kind == Threshold::Kind::fixed && asked.kind == had.kind &&
                                had.fixed_ns <= asked.fixed_ns);
    });
}

Result<void> check_slow(const RecordedProbe& probe, const Threshold& slow) {
    if (recorded_slow(probe, slow))
        return {};
    Error error{"trace slow calls of",
                probe.first.text,
                "the recording does not hold all calls " + threshold_text(slow),
                {}};
    std::vector<std::string> had;
    for (const Threshold& threshold : probe.slow)
        had.push_back(threshold_text(threshold));
    error.hint = had.empty() ? "it was made without tracing them"
                             : fmt::format("it has those {}", fmt::join(had, " and "));
    return error;
}

Result<void> check_conditions(const RecordedProbe& probe, const CallConditions& conditions) {
    const auto had = [&](std::string CallConditions::*predicate) {
        return std::any_of(
            probe.conditions.begin(), probe.conditions.end(),
            [&](const CallConditions& known) { return known.*predicate == conditions.*predicate; });
    };
    for (auto predicate : {&CallConditions::only_if, &CallConditions::slow_if})
        if (!had(predicate))
            return Error{"ask of calls of " + probe.first.text, conditions.*predicate,
                         "the recording was not made with that",
                         "a recording answers only what was asked when it was made"};
    return {};
}

Result<void> find_recorded_split(const RecordingSummary& summary, ProbeId probe, SplitInfo& split) {
    if (!split.branch.empty()) {
        const RecordedFact* fact = last_known(summary.marks(), probe, split.branch.text());
        if (!fact)
            return not_watched("split", split.branch.text(), summary.marks());
        split.branch_bit = fact->mark.bit;
        split.branch_since_ns = fact->mark.since_ns;
        split.branch_until_ns = fact->mark.until_ns;
    }
    if (!split.label.empty()) {
        const RecordedFact* fact = last_known(summary.labels(), probe, split.label);
        if (!fact)
            return not_watched("split by", split.label, summary.labels());
        split.label_since_ns = fact->mark.since_ns;
        split.label_until_ns = fact->mark.until_ns;
    }
    return {};
}

Result<void> find_recorded_only(const RecordingSummary& summary, const Gate& gate, OnlyInfo& only) {
    const auto& gates = summary.gates();
    if (!gate.empty() && std::find(gates.begin(), gates.end(), gate) == gates.end())
        return Error{"only", only.text, "the recording was not made with that",
                     "lines that it watched can be chosen anew: only at FILE:LINE"};
    only.marks.clear();
    for (const std::string& line : only.lines) {
        const RecordedFact* found = nullptr;
        for (const RecordedFact& fact : summary.marks())
            if (fact.mark.text == "at " + line)
                found = &fact;
        if (!found)
            return not_watched("only", line, summary.marks());
        only.marks.push_back(found->mark);
    }
    return {};
}

Result<void> check_sampling(const RecordingSummary& summary, const SamplingSettings& settings) {
    const auto text = [](uint64_t rate_hz, bool wall) {
        return fmt::format("{}{} Hz", wall ? "wall " : "", rate_hz);
    };
    if (summary.rates().contains({settings.rate_hz, settings.wall}) ||
        summary.rates().contains({settings.raised_hz, settings.wall}) ||
        (settings.rate_hz == 0 && settings.raised_hz == 0))
        return {};
    std::vector<std::string> rates;
    for (const auto& [rate_hz, wall] : summary.rates())
        if (rate_hz != 0)
            rates.push_back(text(rate_hz, wall));
    return Error{"sample at", text(settings.rate_hz, settings.wall),
                 "a recording has only the samples that were taken",
                 rates.empty() ? "it was made without sampling"
                               : fmt::format("it was made at {}", fmt::join(rates, " and "))};
}

std::string recorded_probes(const RecordingSummary& summary) {
    if (summary.probes().empty())
        return "it has no probes";
    constexpr size_t shown = 20;
    std::vector<std::string> texts;
    for (const auto& [id, probe] : summary.probes()) {
        const std::string& text = probe.first.text;
        if (std::find(texts.begin(), texts.end(), text) == texts.end())
            texts.push_back(text);
    }
    const size_t more = texts.size() - std::min(texts.size(), shown);
    texts.resize(texts.size() - more);
    return fmt::format("it has the probes {}{}", fmt::join(texts, ", "),
                       more ? fmt::format(" and {} more", more) : "");
}

std::vector<std::string> recorded_functions(const RecordingSummary& summary,
                                            std::string_view prefix, size_t limit) {
    std::set<std::string> names;
    for (const SpecInfo& spec : summary.specs())
        if (spec.function.starts_with(prefix))
            names.insert(spec.function);
    for (const auto& [id, probe] : summary.probes())
        if (probe.first.text.starts_with(prefix))
            names.insert(probe.first.text);
    std::vector<std::string> list(names.begin(), names.end());
    list.resize(std::min(list.size(), limit));
    return list;
}

} // namespace auger
