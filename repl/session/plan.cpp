// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/plan.h"

namespace auger {
namespace {

template <typename Operation, typename T>
void add_if_changed(std::vector<auger::Operation>& operations, const T& before, const T& after) {
    if (!(before == after))
        operations.push_back(Operation{before, after});
}

// But for whether something is attached.
bool is_alike(ProbeSetting one, const ProbeSetting& other) {
    one.off = other.off;
    return one == other;
}

struct Reverse {
    Operation operator()(const AddProbe& add) const { return RemoveProbe{add.probe}; }
    Operation operator()(const RemoveProbe& remove) const { return AddProbe{remove.probe}; }
    Operation operator()(const SetSlow& slow) const { return SetSlow{slow.after, slow.before}; }
    Operation operator()(const SetAttached& set) const {
        return SetAttached{set.after, set.before};
    }
    Operation operator()(const auto& edit) const {
        auto other = edit;
        std::swap(other.before, other.after);
        return other;
    }
};

} // namespace

std::vector<Operation> plan(const Settings& from, const Settings& to) {
    std::vector<Operation> operations;
    add_if_changed<SetTarget>(operations, from.target, to.target);
    add_if_changed<SetFilter>(operations, from.filter, to.filter);
    add_if_changed<SetWayOut>(operations, from.way_out, to.way_out);
    for (const ProbeSetting& probe : to.probes) {
        const ProbeSetting* old = from.find(probe.id);
        if (!old)
            operations.push_back(AddProbe{probe});
        else if (!is_alike(*old, probe))
            operations.push_back(SetSlow{*old, probe});
        if (old && old->off != probe.off)
            operations.push_back(SetAttached{*old, probe});
    }
    // After the probes that they need are there, and before those that they no longer need go.
    add_if_changed<SetSplit>(operations, from.split, to.split);
    add_if_changed<SetOnly>(operations, from.only, to.only);
    add_if_changed<SetTriggers>(operations, from.triggers, to.triggers);
    add_if_changed<SetSampling>(operations, from.sampling, to.sampling);
    for (const ProbeSetting& probe : from.probes) {
        if (!to.find(probe.id))
            operations.push_back(RemoveProbe{probe});
    }
    add_if_changed<SetRecording>(operations, from.recording, to.recording);
    add_if_changed<SetIntervals>(operations, from.intervals, to.intervals);
    add_if_changed<SetServing>(operations, from.serving, to.serving);
    return operations;
}

Operation reversed(const Operation& operation) {
    return std::visit(Reverse{}, operation);
}

} // namespace auger
