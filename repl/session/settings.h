// SPDX-License-Identifier: GPL-3.0-or-later
// Settings: everything a user can edit, as one value. An edit makes a new value; what has to be
// done is the difference between two of them (see plan.h), and so is undoing it.
#pragma once

#include "loader/settings/explain_request.h"
#include "loader/settings/filter_spec.h"
#include "loader/settings/sampling_settings.h"
#include "loader/settings/span_definition.h"
#include "loader/settings/target_spec.h"
#include "loader/settings/way_out.h"
#include "loader/stream/events.h"
#include "repl/services/service_settings.h"
#include "views/model/rules.h"
#include "views/model/stack_condition.h"
#include "views/model/window.h"

#include <string>
#include <vector>

namespace auger {

struct ProbeSetting {
    ProbeId id;
    std::string text;
    Threshold slow;
    CallConditions conditions{};
    bool off = false;      // nothing is attached for it
    SpanDefinition span{}; // `text` is its name; empty: calls of what `text` matches
    friend bool operator==(const ProbeSetting&, const ProbeSetting&) = default;
};

struct SplitSetting {
    bool active = false;
    ProbeId probe;
    Threshold threshold;
    bool so_far = false;
    Branch branch{};
    std::string label{};

    SplitInfo info() const { return {active, probe, threshold, so_far, branch, label}; }
    friend bool operator==(const SplitSetting&, const SplitSetting&) = default;
};

struct Settings {
    TargetSpec target;
    FilterSpec filter;
    WayOut way_out = WayOut::automatic;
    SamplingSettings sampling;
    std::vector<ProbeSetting> probes;
    SplitSetting split;
    OnlyInfo only;              // without marks
    StackCondition kept_stacks; // what `only` asks of stacks
    ExplainRequest explain;
    std::string recording; // path; empty: none
    IntervalFiles intervals;
    std::vector<Shipping> shipping; // a receiver each
    std::vector<Trigger> triggers; // at most one a probe
    std::vector<ServedAddress> serving;
    Window window;
    std::vector<Rule> rules; // in their order
    OverheadLimit overhead;

    const ProbeSetting* find(ProbeId id) const;
    const ProbeSetting* find(std::string_view text) const;
    friend bool operator==(const Settings&, const Settings&) = default;
};

// The probe `from` is known as `to` from now on.
struct Rename {
    ProbeId from;
    ProbeId to;
};
void rename_probe(Settings& settings, const Rename& rename);
void rename_probe(Gate& gate, const Rename& rename);
bool needs_probe(const Gate& gate, ProbeId probe);
// What slow calls of the probe trigger ends; false: they trigger nothing.
bool end_trigger(Settings& settings, ProbeId probe);

} // namespace auger
