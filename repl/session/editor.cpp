// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/editor.h"

#include "repl/language/span_arguments.h"

#include <algorithm>
#include <utility>

namespace auger {

Execution Editor::change(Settings to) {
    auto rules = Rules::compile(to.rules, rules_);
    if (!rules)
        return {rules.error(), {}, {}};
    Execution execution = executor_.run(plan(settings_, to, table_));
    if (!execution.error) {
        if (!(settings_.rules == to.rules)) {
            rules_ = std::move(*rules);
            rules_applied_ = false;
        }
        settings_ = std::move(to);
        model_.keep_stacks(settings_.kept_stacks);
    }
    for (const Rename& rename : execution.renames) {
        rename_probe(settings_, rename);
        undo_.rename(rename);
    }
    return execution;
}

Execution Editor::undo() {
    Settings to = undo_.last().before;
    // A recording that has ended meanwhile stays ended: starting again would overwrite it.
    if (!to.recording.empty())
        to.recording = settings_.recording;
    Execution execution = change(std::move(to));
    if (!execution.error)
        undo_.pop();
    return execution;
}

void Editor::apply_rules() {
    if (!std::exchange(rules_applied_, true))
        model_.set_rules(rules_);
}

void Editor::adopt_recorded() {
    for (const auto& [id, info] : model_.probes()) {
        executor_.reserve_through(id);
        auto known = std::ranges::find(settings_.probes, id, &ProbeSetting::id);
        if (info.deleted) {
            if (known != settings_.probes.end())
                settings_.probes.erase(known);
        } else if (known == settings_.probes.end()) {
            settings_.probes.push_back(
                {id, info.text, info.slow, info.conditions, info.off, span_of(info.span)});
        } else {
            known->slow = info.slow;
            known->conditions = info.conditions;
        }
    }
    const auto setting = [](const SplitInfo& split) {
        return split.active ? SplitSetting{true,         split.probe,  split.threshold,
                                           split.so_far, split.branch, split.label}
                            : SplitSetting{};
    };
    if (!(setting(model_.split()) == setting(recorded_split_)))
        settings_.split = setting(model_.split());
    recorded_split_ = model_.split();
    if (!(model_.only() == recorded_only_)) {
        if (model_.only().text != settings_.only.text) {
            settings_.kept_stacks = {}; // it is of another `only`
            model_.keep_stacks({});
        }
        settings_.only = model_.only();
        settings_.only.marks.clear();
        recorded_only_ = model_.only();
    }
}

} // namespace auger
