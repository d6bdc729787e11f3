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

Result<void> Executor::apply(const Operation& operation, Execution& execution) {
    struct Apply {
        Executor& self;
        Execution& execution;

        Result<void> operator()(const SetSetting& set) const {
            Settings to = *set.after;
            for (const Rename& rename : execution.renames)
                rename_probe(to, rename);
            return set.row->apply(to, self.backend_, self.services_);
        }
        Result<void> operator()(const SetSlow& set) const {
            return self.backend_.set_slow(renamed(set.after.id, execution.renames), set.after.slow,
                                          set.after.conditions);
        }
        Result<void> operator()(const SetAttached& set) const {
            return self.backend_.set_attached(renamed(set.after.id, execution.renames),
                                              !set.after.off);
        }
        Result<void> operator()(const RemoveProbe& remove) const {
            return self.backend_.remove_probe(renamed(remove.probe.id, execution.renames));
        }
        Result<void> operator()(const AddProbe& add) const {
            ProbeId id = add.probe.id;
            const bool used_before = id < self.next_;
            if (used_before)
                id = self.next_;
            auto report = self.backend_.add_probe(
                {id, add.probe.text, add.probe.slow, add.probe.conditions, add.probe.span});
            if (!report)
                return report.error();
            if (used_before)
                execution.renames.push_back({add.probe.id, id});
            self.reserve_through(id);
            execution.reports.emplace(id, std::move(*report));
            return add.probe.off ? self.backend_.set_attached(id, false) : Result<void>{};
        }
    };
    return guarded([&] { return std::visit(Apply{*this, execution}, operation); });
}

} // namespace auger
