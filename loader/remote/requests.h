// SPDX-License-Identifier: GPL-3.0-or-later
// What a console asks of an agent: the edits and questions of Backend, one struct each, which says
// what the answer is. There is none that names a file or a command to be run. Changes with Backend;
// a new one goes to the end of Request, since its place there is its number.
#pragma once

#include "loader/remote/report_fields.h"
#include "loader/remote/settings_fields.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace auger::remote {

struct Nothing {};
void fields(auto&, IsA<Nothing> auto&) {}

struct SetTarget {
    using Answer = Nothing;
    TargetSpec target;
};
struct AddProbe {
    using Answer = ProbeReport;
    ProbeRequest probe;
};
struct PlanProbe {
    using Answer = ProbePlan;
    std::string text;
};
struct RemoveProbe {
    using Answer = Nothing;
    ProbeId probe;
};
struct SetAttached {
    using Answer = Nothing;
    ProbeId probe;
    bool attached = false;
};
struct FindCallSites {
    using Answer = CallSites;
    std::string function;
};
struct FindUsdtProbes {
    using Answer = UsdtProbes;
    std::string pattern;
};
struct FindListeners {
    using Answer = Listeners;
};
struct ListTracepoints {
    using Answer = Tracepoints;
    std::string pattern;
};
struct SetSlow {
    using Answer = Nothing;
    ProbeId probe;
    Threshold threshold;
    CallConditions conditions;
};
struct SetSplit {
    using Answer = Nothing;
    SplitInfo split;
};
struct SetExplained {
    using Answer = Nothing;
    ExplainRequest explain;
};
struct SetOnly {
    using Answer = Nothing;
    OnlyInfo only;
};
struct ListOpenCalls {
    using Answer = std::vector<OpenCall>;
    std::optional<ProbeId> probe;
};
struct SetSampling {
    using Answer = Nothing;
    SamplingSettings sampling;
};
struct SetFilter {
    using Answer = Nothing;
    FilterSpec filter;
};
struct SetWayOut {
    using Answer = Nothing;
    WayOut way = WayOut::automatic;
};
// The stream up to now comes before the answer.
struct Refresh {
    using Answer = Nothing;
};
// Likewise names of what was seen, when they come in time.
struct SettleSymbols {
    using Answer = Nothing;
    std::chrono::nanoseconds timeout{};
};
struct CompleteFunction {
    using Answer = std::vector<std::string>;
    std::string prefix;
    uint32_t limit = 0;
};

struct ListThreads {
    using Answer = std::vector<ThreadNow>;
};

// Asked before an edit that others lose by when it is made and taken back.
struct CheckTarget {
    using Answer = Nothing;
    TargetSpec target;
};
struct CheckProbe {
    using Answer = Nothing;
    ProbeRequest probe;
};

using Request =
    std::variant<SetTarget, AddProbe, PlanProbe, RemoveProbe, SetAttached, FindCallSites,
                 FindUsdtProbes, ListTracepoints, SetSlow, SetSplit, SetExplained, SetOnly,
                 ListOpenCalls, SetSampling, SetFilter, SetWayOut, Refresh, SettleSymbols,
                 CompleteFunction, ListThreads, FindListeners, CheckTarget, CheckProbe>;

void fields(auto& all, IsA<SetTarget> auto& request) {
    all(request.target);
}
void fields(auto& all, IsA<AddProbe> auto& request) {
    all(request.probe);
}
void fields(auto& all, IsA<PlanProbe> auto& request) {
    all(request.text);
}
void fields(auto& all, IsA<RemoveProbe> auto& request) {
    all(request.probe);
}
void fields(auto& all, IsA<SetAttached> auto& request) {
    all(request.probe, request.attached);
}
void fields(auto& all, IsA<FindCallSites> auto& request) {
    all(request.function);
}
void fields(auto& all, IsA<FindUsdtProbes> auto& request) {
    all(request.pattern);
}
void fields(auto& all, IsA<ListTracepoints> auto& request) {
    all(request.pattern);
}
void fields(auto& all, IsA<SetSlow> auto& request) {
    all(request.probe, request.threshold, request.conditions);
}
void fields(auto& all, IsA<SetSplit> auto& request) {
    all(request.split);
}
void fields(auto& all, IsA<SetExplained> auto& request) {
    all(request.explain);
}
void fields(auto& all, IsA<SetOnly> auto& request) {
    all(request.only);
}
void fields(auto& all, IsA<ListOpenCalls> auto& request) {
    all(request.probe);
}
void fields(auto& all, IsA<SetSampling> auto& request) {
    all(request.sampling);
}
void fields(auto& all, IsA<SetFilter> auto& request) {
    all(request.filter);
}
void fields(auto& all, IsA<SetWayOut> auto& request) {
    all(request.way);
}
void fields(auto& all, IsA<CheckTarget> auto& request) {
    all(request.target);
}
void fields(auto& all, IsA<CheckProbe> auto& request) {
    all(request.probe);
}
void fields(auto&, IsA<Refresh> auto&) {}
void fields(auto&, IsA<ListThreads> auto&) {}
void fields(auto&, IsA<FindListeners> auto&) {}
void fields(auto& all, IsA<SettleSymbols> auto& request) {
    all(request.timeout);
}
void fields(auto& all, IsA<CompleteFunction> auto& request) {
    all(request.prefix, request.limit);
}

} // namespace auger::remote
