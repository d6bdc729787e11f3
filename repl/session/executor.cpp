// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/executor.h"

#include "loader/base/guarded.h"

#include <algorithm>

namespace auger {
namespace {

ProbeId renamed(ProbeId id, const std::vector<Rename>& renames) {
    for (const Rename& rename : renames) {
        if (rename.from == id)
            id = rename.to;
    }
    return id;
}

} // namespace

Execution Executor::run(const std::vector<Operation>& operations) {
    Execution execution;
    std::vector<Operation> done;
    for (const Operation& operation : operations) {
        if (auto result = apply(operation, execution); !result) {
            execution.error = result.error();
            roll_back(done, execution);
            return execution;
        }
        done.push_back(operation);
    }
    return execution;
}

void Executor::roll_back(const std::vector<Operation>& done, Execution& execution) {
    for (auto operation = done.rbegin(); operation != done.rend(); ++operation) {
        auto result = apply(reversed(*operation), execution);
        if (result)
            continue;
        std::string& hint = execution.error->hint;
        hint += (hint.empty() ? "" : "; ");
        hint += "and going back failed: " + result.error().message();
    }
}

Result<void> Executor::apply(Operation operation, Execution& execution) {
    struct Apply {
        Executor& self;
        Execution& execution;

        Result<void> operator()(const SetTarget& edit) const {
            return self.backend_.set_target(edit.after);
        }
        Result<void> operator()(const SetFilter& edit) const {
            return self.backend_.set_filter(edit.after);
        }
        Result<void> operator()(const SetWayOut& edit) const {
            return self.backend_.set_way_out(edit.after);
        }
        Result<void> operator()(const SetSampling& edit) const {
            SamplingSettings sampling = edit.after;
            for (const Rename& rename : execution.renames)
                rename_probe(sampling.raised, rename);
            return self.services_.set_sampling(sampling);
        }
        Result<void> operator()(const SetRecording& edit) const {
            return self.backend_.record(edit.after);
        }
        Result<void> operator()(const SetIntervals& edit) const {
            return self.services_.record_intervals(edit.after);
        }
        Result<void> operator()(const SetTriggers& edit) const {
            std::vector<Trigger> triggers = edit.after;
            for (Trigger& trigger : triggers)
                trigger.probe = renamed(trigger.probe, execution.renames);
            return self.services_.set_triggers(triggers);
        }
        Result<void> operator()(const SetServing& edit) const {
            return self.services_.serve(edit.after);
        }
        Result<void> operator()(const SetSplit& edit) const {
            SplitInfo split = edit.after.info();
            split.probe = renamed(split.probe, execution.renames);
            return self.backend_.set_split(split);
        }
        Result<void> operator()(const SetOnly& edit) const {
            OnlyInfo only = edit.after;
            for (const Rename& rename : execution.renames)
                rename_probe(only.gate, rename);
            return self.backend_.set_only(only);
        }
        Result<void> operator()(const SetSlow& edit) const {
            return self.backend_.set_slow(renamed(edit.after.id, execution.renames),
                                          edit.after.slow, edit.after.conditions);
        }
        Result<void> operator()(const SetAttached& edit) const {
            return self.backend_.set_attached(renamed(edit.after.id, execution.renames),
                                              !edit.after.off);
        }
        Result<void> operator()(const RemoveProbe& edit) const {
            return self.backend_.remove_probe(renamed(edit.probe.id, execution.renames));
        }
        Result<void> operator()(const AddProbe& edit) const {
            ProbeId id = edit.probe.id;
            const bool used_before = id < self.next_;
            if (used_before)
                id = self.next_;
            auto report = self.backend_.add_probe(
                {id, edit.probe.text, edit.probe.slow, edit.probe.conditions});
            if (!report)
                return report.error();
            if (used_before)
                execution.renames.push_back({edit.probe.id, id});
            self.reserve_through(id);
            execution.reports.emplace(id, std::move(*report));
            return edit.probe.off ? self.backend_.set_attached(id, false) : Result<void>{};
        }
    };
    return guarded([&] { return std::visit(Apply{*this, execution}, operation); });
}

} // namespace auger
