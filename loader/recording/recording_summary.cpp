// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recording_summary.h"

#include <algorithm>

namespace auger {

void RecordingSummary::on_thread(ThreadId, const ThreadInfo& info) {
    // The first thread's name is the process's, and the latest one after an exec.
    const Process process{info.machine, info.pid};
    if (info.pid == info.tid)
        processes_.insert_or_assign(process, info.comm);
    else
        processes_.emplace(process, info.comm);
}

void RecordingSummary::on_probe(const ProbeInfo& info) {
    RecordedProbe& probe =
        probes_.try_emplace(info.id, RecordedProbe{info, {}, {}, {}}).first->second;
    probe.specs.insert(info.specs.begin(), info.specs.end());
    if (info.slow.kind != Threshold::Kind::none &&
        std::find(probe.slow.begin(), probe.slow.end(), info.slow) == probe.slow.end())
        probe.slow.push_back(info.slow);
    if (std::find(probe.conditions.begin(), probe.conditions.end(), info.conditions) ==
        probe.conditions.end())
        probe.conditions.push_back(info.conditions);
}

namespace {

bool same(const RecordedFact& a, const RecordedFact& b) {
    return a.probe == b.probe && a.mark.bit == b.mark.bit && a.mark.text == b.mark.text &&
           a.mark.since_ns == b.mark.since_ns;
}

bool contains(const std::vector<RecordedFact>& facts, const RecordedFact& fact) {
    return std::any_of(facts.begin(), facts.end(),
                       [&](const RecordedFact& known) { return same(known, fact); });
}

} // namespace

void RecordingSummary::watch(std::vector<RecordedFact>& facts, const RecordedFact& fact) {
    if (!contains(facts, fact))
        facts.push_back(fact);
}

// What is not among those that are still watched was known until now.
void RecordingSummary::end(std::vector<RecordedFact>& facts,
                           const std::vector<RecordedFact>& still) {
    for (RecordedFact& fact : facts)
        if (fact.mark.until_ns == UINT64_MAX && !contains(still, fact))
            fact.mark.until_ns = now_ns_;
}

void RecordingSummary::on_split(const SplitInfo& info) {
    split_marks_.clear();
    std::vector<RecordedFact> labels;
    if (info.active && !info.branch.empty())
        split_marks_.push_back(
            {info.probe,
             {info.branch_bit, info.branch.text(), info.branch_since_ns, info.branch_until_ns}});
    if (info.active && !info.label.empty())
        labels.push_back({info.probe, {0, info.label, info.label_since_ns, info.label_until_ns}});
    std::vector<RecordedFact> still = split_marks_;
    still.insert(still.end(), only_marks_.begin(), only_marks_.end());
    end(marks_, still);
    end(labels_, labels);
    for (const RecordedFact& fact : split_marks_)
        watch(marks_, fact);
    for (const RecordedFact& fact : labels)
        watch(labels_, fact);
}

void RecordingSummary::on_only(const OnlyInfo& info) {
    only_marks_.clear();
    for (const MarkInfo& mark : info.marks)
        only_marks_.push_back({std::nullopt, mark});
    std::vector<RecordedFact> still = split_marks_;
    still.insert(still.end(), only_marks_.begin(), only_marks_.end());
    end(marks_, still);
    for (const RecordedFact& fact : only_marks_)
        watch(marks_, fact);
    if (!info.gate.empty() && std::find(gates_.begin(), gates_.end(), info.gate) == gates_.end())
        gates_.push_back(info.gate);
}

} // namespace auger
