// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_split.h"

#include "loader/base/transaction.h"
#include "loader/kernel/clock.h"

#include <optional>
#include <string_view>

namespace auger {

namespace {

bool by_line(const SplitInfo& split) {
    return split.active && split.branch.kind == Branch::Kind::line;
}

} // namespace

Result<MarkInfo> LiveSplit::watch(const Branch& branch, const TargetView& view) {
    return branch.kind == Branch::Kind::line ? marks_.watch_line(branch.what, view)
                                             : marks_.watch(branch.text());
}

Result<void> LiveSplit::set(const SplitInfo& wanted, const TargetView& view) {
    SplitInfo split = wanted;
    if (auto may = split.active ? probes_.may_split(split.probe) : Result<void>(); !may)
        return may;
    split.branch_bit = split_.branch_bit;
    split.branch_since_ns = split_.branch_since_ns;
    split.label_since_ns = split_.label_since_ns;
    const bool same_calls = split.active && split_.active && split.probe == split_.probe &&
                            split.branch == split_.branch && split.label == split_.label;
    if (same_calls) {
        sink_.on_split(split_ = split);
        return {};
    }
    Transaction edit;
    std::optional<SplitRequest> request;
    std::optional<MarkInfo> mark;
    // The same branch of the same calls is watched already.
    const bool same_branch = split.active && split_.active && split.probe == split_.probe &&
                             !split.branch.empty() && split.branch == split_.branch;
    if (split.active && !split.branch.empty()) {
        if (!same_branch) {
            auto watched = watch(split.branch, view);
            if (!watched)
                return watched.error();
            edit.on_rollback([this, bit = watched->bit] { marks_.release(bit); });
            split.branch_bit = watched->bit;
            split.branch_since_ns = watched->since_ns;
        }
        mark = MarkInfo{split.branch_bit, split.branch.text(), split.branch_since_ns};
    }
    if (split.active && !(split.branch.empty() && split.label.empty()))
        request = {split.probe,
                   split.branch.kind == Branch::Kind::condition ? split.branch.what : "", mark,
                   split.label};
    if (auto set = probes_.set_split(request, view, edit); !set)
        return set;
    if (auto told = probes_.watch_lines(by_line(split) || !only_.lines.empty(), view, edit); !told)
        return told;
    edit.commit();
    const bool same_label =
        split_.active && split.probe == split_.probe && split.label == split_.label;
    if (!split.label.empty() && !same_label)
        split.label_since_ns = clock_ns();
    if (split_.active && !split_.branch.empty() && !same_branch)
        marks_.release(split_.branch_bit);
    sink_.on_split(split_ = split);
    return {};
}

Result<void> LiveSplit::set_only(const OnlyInfo& wanted, const TargetView& view) {
    OnlyInfo only = wanted;
    only.marks.clear();
    Transaction edit;
    for (const std::string& line : only.lines) {
        auto watched = marks_.watch_line(line, view);
        if (!watched)
            return watched.error();
        edit.on_rollback([this, bit = watched->bit] { marks_.release(bit); });
        only.marks.push_back(*watched);
    }
    if (auto told = probes_.watch_lines(by_line(split_) || !only.lines.empty(), view, edit); !told)
        return told;
    if (auto set = gates_.set(WIRE_GATE_ONLY, only.gate); !set)
        return set;
    edit.commit();
    for (const MarkInfo& mark : only_.marks)
        marks_.release(mark.bit);
    sink_.on_only(only_ = only);
    return {};
}

} // namespace auger
