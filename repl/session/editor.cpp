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
        change_always([&](Settings& settings) { rename_probe(settings, rename); });
    }
    return execution;
}

Execution Editor::undo() {
    Settings to = undo_.last().before;
    // A recording that has ended meanwhile stays ended: starting again would overwrite it.
    if (!to.recording.empty())
        to.recording = settings_.recording;
    Execution execution = change(to);
    // Processes that have ended cannot be observed again, and what was before can be all the same.
    if (execution.error && !(to.target == settings_.target)) {
        to.target = settings_.target;
        if (Execution rest = change(std::move(to)); !rest.error) {
            rest.note = "the target stays: " + execution.error->message();
            execution = std::move(rest);
        }
    }
    if (!execution.error)
        undo_.pop();
    return execution;
}

void Editor::apply_rules() {
    if (!std::exchange(rules_applied_, true))
        model_.set_rules(rules_);
}

template <typename Change>
void Editor::change_always(const Change& change) {
    change(settings_);
    undo_.change(change);
}

// What the recording changes an undo does not take back: it would be of something else.
void Editor::adopt_recorded() {
    for (const auto& [id, info] : model_.probes())
        adopt(id, info);
    const auto setting = [](const SplitInfo& split) {
        return split.active ? SplitSetting{true,         split.probe,  split.threshold,
                                           split.so_far, split.branch, split.label}
                            : SplitSetting{};
    };
    if (const SplitSetting split = setting(model_.split()); !(split == setting(recorded_split_)))
        change_always([&](Settings& settings) { settings.split = split; });
    recorded_split_ = model_.split();
    if (!(model_.only() == recorded_only_)) {
        const bool is_other = model_.only().text != settings_.only.text;
        if (is_other)
            model_.keep_stacks({});
        change_always([&](Settings& settings) {
            if (is_other)
                settings.kept_stacks = {}; // it is of another `only`
            settings.only = model_.only();
            settings.only.marks.clear();
        });
        recorded_only_ = model_.only();
    }
}

void Editor::adopt(ProbeId id, const ProbeInfo& info) {
    executor_.reserve_through(id);
    const ProbeSetting* const known = settings_.find(id);
    if (info.deleted) {
        if (known)
            change_always([&](Settings& settings) {
                std::erase_if(settings.probes,
                              [&](const ProbeSetting& one) { return one.id == id; });
            });
    } else if (!known) {
        const ProbeSetting probe{id,       info.text,         info.slow, info.conditions,
                                 info.off, span_of(info.span)};
        change_always([&](Settings& settings) {
            if (!settings.find(id))
                settings.probes.push_back(probe);
        });
    } else if (!(known->slow == info.slow) || !(known->conditions == info.conditions)) {
        change_always([&](Settings& settings) {
            const auto one = std::ranges::find(settings.probes, id, &ProbeSetting::id);
            if (one == settings.probes.end())
                return;
            one->slow = info.slow;
            one->conditions = info.conditions;
        });
    }
}

} // namespace auger
