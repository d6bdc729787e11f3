// SPDX-License-Identifier: GPL-3.0-or-later
// Plan: the operations that lead from one Settings to another, in an order in which each is valid.
// Every operation knows what was there before, so it can be reversed. Pure.
#pragma once

#include "repl/session/settings.h"

#include <variant>
#include <vector>

namespace auger {

template <typename T, typename Tag>
struct Edit {
    T before;
    T after;
};
using SetTarget = Edit<TargetSpec, struct TargetTag>;
using SetFilter = Edit<FilterSpec, struct FilterTag>;
using SetWayOut = Edit<WayOut, struct WayOutTag>;
using SetSampling = Edit<SamplingSettings, struct SamplingTag>;
using SetSplit = Edit<SplitSetting, struct SplitTag>;
using SetOnly = Edit<OnlyInfo, struct OnlyTag>;
using SetRecording = Edit<std::string, struct RecordingTag>;
using SetIntervals = Edit<IntervalFiles, struct IntervalsTag>;
using SetTriggers = Edit<std::vector<Trigger>, struct TriggersTag>;
using SetServing = Edit<std::vector<ServedAddress>, struct ServingTag>;
struct AddProbe {
    ProbeSetting probe;
};
struct RemoveProbe {
    ProbeSetting probe;
};
// Its threshold of slow calls, and what is asked of its calls.
struct SetSlow {
    ProbeSetting before;
    ProbeSetting after; // with the same id
};

// Whether something is attached for it.
struct SetAttached {
    ProbeSetting before;
    ProbeSetting after; // with the same id
};

using Operation =
    std::variant<SetTarget, SetFilter, SetWayOut, AddProbe, SetSlow, SetAttached, SetSplit, SetOnly,
                 RemoveProbe, SetSampling, SetRecording, SetIntervals, SetTriggers, SetServing>;

std::vector<Operation> plan(const Settings& from, const Settings& to);
Operation reversed(const Operation& operation);

} // namespace auger
