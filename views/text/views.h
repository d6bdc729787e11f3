// SPDX-License-Identifier: GPL-3.0-or-later
// The text views: each draws the model into a Canvas, which to_text() turns into lines.
#pragma once

#include "loader/reports/host_report.h"
#include "loader/reports/open_call.h"
#include "loader/reports/reader_status.h"
#include "loader/reports/symbol_progress.h"
#include "loader/reports/target_status.h"
#include "loader/reports/unwind_status.h"
#include "views/canvas.h"
#include "views/model/diff.h"
#include "views/model/fold.h"
#include "views/model/frame_choice.h"
#include "views/model/function_pass.h"
#include "views/model/function_table.h"
#include "views/model/model.h"
#include "views/model/suggestions.h"
#include "views/shipping_status.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace auger {

struct ViewOptions {
    size_t width = 80; // columns; less than 40 counts as 40
    ColourMode colour = ColourMode::none;
    bool unicode = true; // false: ASCII only for bars and marks
    Window window;
    // Of the whole, below which the flame cuts frames off (and counts them): a screen or two.
    double min_share = 0.03;
    size_t limit = 30; // rows of top, diff and calls; 0: no limit
    StackOptions stack{};
    std::string filter{}; // in force, as `filter` says it: "tid 4711"; empty: none
};

// What clients of the endpoint took.
struct ClientsStatus {
    bool served = false;                       // whether it listens, or has
    uint64_t answered = 0;                     // requests
    std::map<std::string, uint64_t> refused{}; // by cause: requests, and connections
    uint64_t sampled_ns = 0;                   // for clients alone
    uint64_t cpu_ns = 0;                       // of writing answers
};

// What status shows beside the model; the console asks the backend for it.
struct StatusContext {
    TargetStatus target;
    std::vector<uint64_t> links;
    SymbolProgress symbols;
    UnwindStatus unwinding{};
    ReaderStatus readers{};
    uint64_t resident_bytes = 0; // auger's own memory, all of it; 0: not known
    std::string raised{}; // "4999 only handle > p95", as `sample` takes it; empty: no such rate
    // Percent of the target's CPU time from which on auger takes less; 0: never.
    double overhead_limit = 0;
    ClientsStatus clients{};
    std::vector<ShippingStatus> shipping{}; // of each receiver
    std::vector<HostReport> hosts{};
};

Canvas flame_view(const Model&, const ViewOptions&, const ClassFilter& filter = {},
                  GroupBy by = GroupBy::process, const std::string& under = {},
                  FrameChoice frames = FrameChoice::all);
Canvas top_view(const Model&, const ViewOptions&, const ClassFilter& filter = {},
                FrameChoice frames = FrameChoice::all);
Canvas threads_view(const Model&, const ViewOptions&, const ClassFilter& filter = {});
// Functions worth timing, and what to type next.
Canvas suggest_view(const Model&, const ViewOptions&, const Suggestions&);
// Callers or callees of a function.
Canvas neighbours_view(const Model&, const ViewOptions&, const FunctionFocus&,
                       const ClassFilter& filter = {}, FrameChoice frames = FrameChoice::all);
Canvas probes_view(const Model&, const ViewOptions&);
// The functions of a probe, or of all.
Canvas functions_view(const Model&, const ViewOptions&, std::optional<ProbeId> probe = {},
                      FunctionColumn sorted_by = FunctionColumn::total);
// Which parts make the probe's calls differ; of `limit` functions.
Canvas explain_view(const Model&, const ViewOptions&, ProbeId probe);
// What observing takes of the target's CPU time, by cause; of `context` the limit.
Canvas overhead_view(const Model&, const ViewOptions&, const StatusContext&);
Canvas status_view(const Model&, const ViewOptions&, const StatusContext&);
// Slow calls, the newest last; of every probe when there is none given. Fails for an unknown probe.
Result<Canvas> calls_view(const Model&, const ViewOptions&, std::optional<ProbeId> probe = {},
                          const ClassFilter& filter = {});
// Calls that are running, the oldest first; of `probe`, or of all.
Canvas open_calls_view(const Model&, const ViewOptions&, std::span<const OpenCall>,
                       std::optional<ProbeId> probe = {});
// What all threads do now; of `limit` stacks.
Canvas stacks_view(const Model&, const ViewOptions&, std::span<const ThreadNow>);
Result<Canvas> hist_view(const Model&, const ViewOptions&, ProbeId probe,
                         const std::optional<HostChoice>& host = {});
// Its percentiles, a row for each host.
Result<Canvas> hist_by_host_view(const Model&, const ViewOptions&, ProbeId probe);
Result<Canvas> diff_view(const Model&, const ViewOptions&, const ClassFilter& first,
                         const ClassFilter& second, FrameChoice frames = FrameChoice::all);

} // namespace auger
