// SPDX-License-Identifier: GPL-3.0-or-later
// The functions and call sites that probes time, each with its calls.
#pragma once

#include "views/model/model.h"

#include <optional>
#include <vector>

namespace auger {

// A function or call site of a probe, with what was counted before the probe was off and on again.
struct TimedFunction {
    std::vector<SpecId> specs; // of one place, the latest last

    const SpecInfo& info(const Model& model) const { return model.specs()[specs.back().index()]; }
    CallStatistics calls(const Model&, const Window& = {}) const;
    // It is a place that is counted, and has no durations.
    bool is_counted(const Model& model) const {
        return info(model).way_out.kind() == ObservedExit::Kind::count;
    }
    // Where something happens to a span: it has no calls of its own.
    bool is_point(const Model& model) const {
        return info(model).way_out.kind() == ObservedExit::Kind::span_point;
    }
};

// Of `probe`, or of all that are not deleted: in the order in which they were first timed.
std::vector<TimedFunction> timed_functions(const Model&, std::optional<ProbeId> probe = {});

} // namespace auger
