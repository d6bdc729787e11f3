// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/plan.h"

namespace auger {
namespace {

// But for whether something is attached.
bool is_alike(ProbeSetting one, const ProbeSetting& other) {
    one.off = other.off;
    return one == other;
}

struct Reverse {
    Operation operator()(const AddProbe& add) const { return RemoveProbe{add.probe}; }
    Operation operator()(const RemoveProbe& remove) const { return AddProbe{remove.probe}; }
    Operation operator()(const SetSlow& set) const { return SetSlow{set.after, set.before}; }
    Operation operator()(const SetAttached& set) const {
        return SetAttached{set.after, set.before};
    }
    Operation operator()(const SetSetting& set) const {
        return SetSetting{set.row, set.after, set.before};
    }
};

} // namespace

std::vector<Operation> plan(const Settings& from, const Settings& to, SettingTable table) {
    std::vector<Operation> operations;
    const auto before = std::make_shared<const Settings>(from),
               after = std::make_shared<const Settings>(to);
    const auto rows = [&](bool before_probes) {
        for (const SettingRow* row : table)
            if (row->apply && (row->order == SettingRow::Order::before_probes) == before_probes &&
                !row->same(from, to))
                operations.push_back(SetSetting{row, before, after});
    };
    rows(true);
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
    rows(false);
    for (const ProbeSetting& probe : from.probes) {
        if (!to.find(probe.id))
            operations.push_back(RemoveProbe{probe});
    }
    return operations;
}

Operation reversed(const Operation& operation) {
    return std::visit(Reverse{}, operation);
}

} // namespace auger
