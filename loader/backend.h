// SPDX-License-Identifier: GPL-3.0-or-later
// Backend: the narrow interface between the console and what is observed. The live one drives the
// kernel (loader/kernel), the replaying one reads a recording (loader/recording), another has
// agents on other machines (loader/remote), tests have a fake. Everything observed comes back
// through the EventSink given at construction, only during poll().
//
// Every edit is whole or not at all: when one fails, what was in force before still is.
#pragma once

#include "loader/base/result.h"
#include "loader/reports/call_sites.h"
#include "loader/reports/capability.h"
#include "loader/reports/host_report.h"
#include "loader/reports/interval_recordings.h"
#include "loader/reports/listeners.h"
#include "loader/reports/open_call.h"
#include "loader/reports/probe_plan.h"
#include "loader/reports/probe_report.h"
#include "loader/reports/reader_status.h"
#include "loader/reports/symbol_progress.h"
#include "loader/reports/target_status.h"
#include "loader/reports/tracepoints.h"
#include "loader/reports/unwind_status.h"
#include "loader/reports/usdt_probes.h"
#include "loader/settings/explain_request.h"
#include "loader/settings/filter_spec.h"
#include "loader/settings/interval_recording.h"
#include "loader/settings/probe_request.h"
#include "loader/settings/sampling_settings.h"
#include "loader/settings/target_spec.h"
#include "loader/settings/way_out.h"
#include "loader/stream/events.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

class Backend {
  public:
    virtual ~Backend() = default;

    // True for a recording: edits of the kernel fail with an Error that says so, but a recording's
    // own probes can be split on and their thresholds changed.
    virtual bool replaying() const = 0;
    // Whether things happen by themselves as time passes; else only as poll() is asked for them.
    virtual bool live() const { return !replaying(); }
    // CLOCK_MONOTONIC of the observed machine; a recording's own time when replaying.
    virtual uint64_t now_ns() const = 0;

    virtual Result<void> set_target(const TargetSpec&) = 0;
    // Whether set_target() would be refused, as far as that can be known before. Changes nothing,
    // and starts no command.
    virtual Result<void> check_target(const TargetSpec&) { return {}; }
    virtual TargetStatus target_status() const = 0;
    // Lets a `-- COMMAND` target run; it was started stopped, so that probes miss nothing. Does
    // nothing when there is none or it runs already.
    virtual Result<void> start_command() = 0;

    virtual Result<ProbeReport> add_probe(const ProbeRequest&) = 0;
    // Whether add_probe() would be refused, likewise. Nothing is attached.
    virtual Result<void> check_probe(const ProbeRequest&) { return {}; }
    // What adding a probe of this text would do. Nothing is attached.
    virtual Result<ProbePlan> plan_probe(const std::string& text) = 0;
    virtual Result<void> remove_probe(ProbeId) = 0;
    // Takes off what is attached for a probe, which keeps all that was collected; or attaches it
    // anew. Calls that are open when it goes off are counted as `dropped`.
    virtual Result<void> set_attached(ProbeId, bool attached) = 0;
    // From where the code of the target calls a function (calls through pointers cannot be seen).
    virtual Result<CallSites> find_call_sites(const std::string& function) = 0;
    // Of the target's files; `pattern` is PROVIDER:NAME or LIBRARY:PROVIDER:NAME, globs.
    virtual Result<UsdtProbes> find_usdt_probes(const std::string& pattern) = 0;
    // Where the target's processes listen; none without a target, or where it is every process.
    virtual Result<Listeners> find_listeners() = 0;
    // Of the kernel; `pattern` is CATEGORY:NAME, globs.
    virtual Result<Tracepoints> list_tracepoints(const std::string& pattern) = 0;
    // Edits the threshold of slow calls (kind none stops tracing them), and what is asked of calls
    // and read of them. Attachments stay.
    virtual Result<void> set_slow(ProbeId, const Threshold&, const CallConditions& = {}) = 0;
    // Written into the stream, with what the backend fills in. Attaches to the branch's line.
    virtual Result<void> set_split(const SplitInfo&) = 0;
    // Calls that are told with their parts from now on (on_call_parts), no longer others.
    virtual Result<void> set_explained(const ExplainRequest&) = 0;
    // Written into the stream, as the split. The empty one keeps everything.
    virtual Result<void> set_only(const OnlyInfo&) = 0;
    // Calls that are running now, oldest first; of one probe, or of all.
    virtual Result<std::vector<OpenCall>> open_calls(std::optional<ProbeId>) = 0;
    // All threads of the target, with what they do now.
    virtual Result<std::vector<ThreadNow>> threads_now() = 0;
    virtual Result<void> set_sampling(const SamplingSettings& settings) = 0;
    virtual Result<void> set_filter(const FilterSpec&) = 0;
    virtual Result<void> set_way_out(WayOut) = 0; // of probes added from now on
    // A line for the user, as part of the stream.
    virtual void add_notice(const std::string& text) = 0;
    // Writes the stream from now on, with all definitions so far; an empty path ends the recording.
    virtual Result<void> record(const std::string& path) = 0;
    // Writes the stream from now on as recordings of intervals, instead of those that go on; an
    // empty folder ends that.
    virtual Result<void> record_intervals(const IntervalRecording&) = 0;
    virtual IntervalRecordings interval_recordings() const { return {}; }
    // Keeps the stream's last `span` in memory from now on; zero: no longer.
    virtual Result<void> keep_last(std::chrono::nanoseconds span) = 0;
    // Writes what is kept as a recording. May be called in a forked copy of the process.
    virtual Result<void> write_last(const std::string& path) const = 0;

    // Ids of the kernel links (or perf events) in force, ascending.
    virtual std::vector<uint64_t> links() const = 0;
    virtual std::vector<Capability> capabilities() const = 0;
    virtual SymbolProgress symbol_progress() const = 0;
    // Whether samples from before then are still to come: nobody has taken them in yet, or more is
    // to be known of them first. No longer when the target has ended and all that it left is here.
    virtual bool keeps_samples_before(uint64_t /*time_ns*/) const { return false; }
    virtual UnwindStatus unwind_status() const = 0;
    virtual ReaderStatus reader_status() const { return {}; }
    // The machines that agents observe; none: it is this machine, or a recording.
    virtual std::vector<HostReport> hosts() const { return {}; }
    // Function names of the target that begin with `prefix`, at most `limit`, for completion.
    virtual std::vector<std::string> complete_function(std::string_view prefix,
                                                       size_t limit) const = 0;

    // Delivers what has come to the sink; waits up to `timeout` when nothing has. A recording that
    // is not live delivers `timeout` worth of its own time and returns at once. `wake_fd` (or -1)
    // ends the wait when it is readable. Returns false when nothing will ever come again (recording
    // at its end, or every process of the target gone and everything they left delivered).
    virtual Result<bool> poll(std::chrono::nanoseconds timeout, int wake_fd) = 0;
    // Fetches counters and ledger now, so that what follows is up to date; delivers to the sink.
    virtual Result<void> refresh() = 0;
    // Waits for names of what was seen so far, at most `timeout`.
    virtual void settle_symbols(std::chrono::nanoseconds timeout) = 0;
};

} // namespace auger
