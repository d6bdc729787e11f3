// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: the user's probes and what is attached for them. A probe is matched against the
// modules of the target when it is added, and again when the target maps or becomes something new;
// what is attached already stays as it is.
#pragma once

#include "loader/base/transaction.h"
#include "loader/kernel/call_programs.h"
#include "loader/kernel/exchange_spans.h"
#include "loader/kernel/exit_chooser.h"
#include "loader/kernel/features.h"
#include "loader/kernel/go_switches.h"
#include "loader/kernel/hit_costs.h"
#include "loader/kernel/native_functions.h"
#include "loader/kernel/place_group.h"
#include "loader/kernel/pointer_calls.h"
#include "loader/kernel/probe_statistics.h"
#include "loader/kernel/spec_table.h"
#include "loader/kernel/tail_callers.h"
#include "loader/kernel/target_view.h"
#include "loader/kernel/thread_contexts.h"
#include "loader/kernel/timed_functions.h"
#include "loader/kernel/timed_probe.h"
#include "loader/reports/call_sites.h"
#include "loader/reports/probe_plan.h"
#include "loader/reports/probe_report.h"
#include "loader/reports/tracepoints.h"
#include "loader/reports/usdt_probes.h"
#include "loader/settings/explain_request.h"
#include "loader/settings/probe_request.h"
#include "loader/settings/way_out.h"
#include "loader/tracepoints/tracefs.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace auger {

// What a split asks of its probe's calls, beside their durations.
struct SplitRequest {
    ProbeId probe;
    std::string predicate;        // sets the mark; empty: the mark is a line's, or there is none
    std::optional<MarkInfo> mark; // how many calls have it is counted
    std::string label;            // expression; empty: none
};

// Which functions explained calls are made of.
struct NumberedParts {
    bool changed = false; // against how it was
    size_t parts = 0;
    size_t left_out = 0; // functions beyond most_parts
};

class LiveProbes {
  public:
    LiveProbes(Programs& programs, const Features& features, ModuleCatalogue& catalogue,
               NativeFunctions& natives, FileGuard& guard, const Tracefs& tracefs, EventSink& sink,
               AttachWay way);

    // Of probes added from now on.
    void set_way_out(WayOut way_out) { way_out_ = way_out; }

    Result<ProbeReport> add(const ProbeRequest& request, const TargetView& view);
    // What add() would do, and what a call then costs; of a span only whether its points are there.
    Result<ProbePlan> plan(const ProbeRequest& request, const TargetView& view,
                           const HitCosts& costs);
    // `function` as a probe's text names it.
    Result<CallSites> find_call_sites(const std::string& function, const TargetView& view);
    // `pattern` as a probe's text names them, with or without `usdt:`.
    Result<UsdtProbes> find_usdt_probes(const std::string& pattern, const TargetView& view);
    // `pattern` likewise, with or without `tracepoint:`.
    Result<Tracepoints> list_tracepoints(const std::string& pattern) const;
    // Ends the probe; its statistics were read before. Unknown ids are an Error.
    Result<void> remove(ProbeId id);
    // Takes off what is attached, or attaches it anew; what was collected stays.
    Result<void> set_attached(ProbeId id, bool attached, const TargetView& view, uint64_t now_ns);
    // Both fail for predicates and expressions that the calls have no values for.
    Result<void> set_slow(ProbeId id, const Threshold& threshold, const CallConditions& conditions,
                          const TargetView& view);
    // Whether the probe's calls are classes of samples: a place that is counted has none.
    Result<void> may_split(ProbeId id) const;
    // Whether hits of lines mark calls: they may lie in a function's last instructions.
    Result<void> watch_lines(bool watched, const TargetView& view, Transaction& edit);
    Result<void> set_split(const std::optional<SplitRequest>& split, const TargetView& view,
                           Transaction& edit);
    // Of wire_spec.terms: those in `mask` are the ones given, of other probes none.
    Result<void> set_terms(uint32_t mask, const std::map<ProbeId, uint32_t>& terms,
                           Transaction& edit);
    // Numbers the parts of the calls that are to be explained among what is timed now; whole or not
    // at all. Fails where the probe's calls have none.
    Result<NumberedParts> number_parts(const ExplainRequest& wanted);
    // What is known of a probe's durations; null: there is no such probe.
    const ThresholdFollower* follower(ProbeId id) const;

    // The target has new processes or modules: attaches what is missing. Problems become notices.
    void update(const TargetView& view, uint64_t now_ns);
    // Processes that ended need no attachment of their own any more.
    void forget_process(pid_t pid);
    // Of a target that was set: takes the probes off what is no part of it.
    void leave_others(const TargetView& view);
    // Probes in files that were withdrawn are no more; update() makes new ones for what is mapped
    // then. The statistics were read before.
    void forget_withdrawn();
    // Takes off what is attached to the file for every process, for good. `why` is told of each
    // probe.
    void withdraw(FileIdentity file, const std::string& why, uint64_t now_ns);
    bool empty() const { return probes_.empty(); }
    // A process of the target has executed a program, which may have what a probe waits for.
    void note_execution();
    // Whether such was found since the last call, and how many processes had executed meanwhile.
    std::optional<uint64_t> take_executed_before() { return std::exchange(executed_before_, {}); }
    // Some probe is in the target's processes one by one, so that it comes late to new ones.
    bool per_process() const;

    // Reads the counters, tells the sink and `told`, and moves thresholds after them.
    void read_statistics(uint64_t now_ns, const ProbeStatistics::Told& told);

    // Of what is timed now.
    const TimedFunctions& functions() const { return functions_; }
    std::vector<uint64_t> link_ids() const;
    // Of all probes.
    std::map<SpecId, SpecHits> hits(const HitCosts& costs) const {
        return statistics_.hits(probes_, costs);
    }
    HitCosts measure_costs() {
        return measure_hit_costs(measured_, specs_, features_, way_, guard_.link_processes());
    }

    // What threads work for is not known of some process that has just begun, or a function that a
    // language has a name for is not there: update() is to look again after so long. 0: it need
    // not.
    uint64_t look_again_ns() const;

    // Some span may be open.
    bool has_spans() const;
    bool has_exchanges() const { return !exchanges_.empty(); }
    // Spans that are told apart by keys, as the kernel's side names them.
    struct KeyedSpans {
        SpecId spec;
        uint16_t slot = 0, generation = 0;
    };
    std::vector<KeyedSpans> keyed_spans() const;

    // Waits are sampled, or no longer: those of goroutines are to be known, too.
    void watch_waits(bool wanted, const TargetView& view);
    // What is known of goroutines that wait.
    GoSwitches& go_switches() { return go_switches_; }
    const GoSwitches& go_switches() const { return go_switches_; }

  private:
    // Of a name in a language, in all processes of the target.
    static constexpr size_t most_native_places = 64;
    // Ids of points: no user's probe has them.
    static constexpr uint32_t first_point = 0x8000'0000;

    using Place = TimedPlace;
    using Probe = TimedProbe;

    // Of one update; those of the one before have been told.
    void tell_problem(std::set<std::string>& problems, const std::string& problem, uint64_t now_ns);

    // Why how often such a place is reached has no duration.
    static std::string no_duration(PlaceKind kind);
    bool asks_for_durations(const Probe& probe) const;
    static bool needs_durations(const Threshold& slow);
    static Result<void> check_durations(const Probe& probe, const char* operation);
    static Error unreadable(const PlaceMatch& match); // its arguments
    static bool can_read(const CallProgram& program, const Place& place);
    // Fails where they are asked for; what would be shown by default is left out there.
    Result<void> check_values(const Probe& probe, const Place& place, const TargetView& view,
                              std::optional<CallProgram>& program) const;
    static bool needs_other_entry(const CallProgram& program, const Place& place);
    static bool reads_results(const CallProgram& program);
    // Whether its calls may end some instructions before they return.
    bool may_leave_early(const Probe& probe, const Place& place) const;
    // ... has become another answer than it was: true, and its group has to be renewed.
    bool choose_exits(const Probe& probe, Place& place, Transaction& edit);

    struct ChosenPlace {
        Place place;
        std::optional<CallProgram> program; // that reads its values
        GoPlaces go;
    };
    struct ChosenPlaces {
        std::vector<ChosenPlace> places;
        std::set<std::string> reasons; // for the ways out
        std::set<size_t> being_read;   // modules in which there may be more
    };
    // Those of `matches` that the probe does not have yet, with how each is attached. What cannot
    // be is told as skipped.
    Result<ChosenPlaces> choose_places(const Probe& probe, const ProbeMatches& matches,
                                       const TargetView& view, TailCallers& callers,
                                       ProbeReport& report);
    static ProbePlan::Cost cost_of(const Place& place, const HitCosts& costs);
    // Null: the probe does not have it.
    static const Place* find_place(const Probe& probe, const PlaceMatch& match,
                                   const TargetModule& module);
    static void tell_being_read(const std::set<size_t>& modules, const TargetView& view,
                                std::vector<std::string>& notes);
    // Attaches the functions of `matches` that the probe does not have yet. All or nothing.
    Result<void> attach_new(Probe& probe, const ProbeMatches& matches, const TargetView& view,
                            ProbeReport& report);
    // Of a name of a language's.
    Result<ProbeMatches> find_native(const ProbePattern& pattern, const TargetView& view,
                                     const MatchOptions& options);
    // The kernel's tracepoints, or what files have.
    Result<ProbeMatches> find(const ProbePattern& pattern, const TargetView& view,
                              const MatchOptions& options = {});
    Result<ProbeMatches> find_tracepoints_of(const ProbePattern& pattern) const;
    // Of tracepoints: likewise.
    Result<void> attach_tracepoints(Probe& probe, const ProbeMatches& matches,
                                    const TargetView& view, ProbeReport& report);
    static bool is_tail_jump(const ExitPlace& exit);
    // What it jumps to at its end may be missing from its times.
    static bool is_without_tail(const Place& place);
    // Whether something else is timed that ends where this does: then it would end after this,
    // which has called it.
    bool ends_beside(const PlaceMatch& match, const TargetModule& module) const;
    // Whether a call instruction is known that calls the function, or the one that jumps.
    static bool is_called_by_known(const Probe& probe, const PlaceMatch& match, TailCallers& known);
    // Why its return is not seen, where it matters when that is; empty: it is.
    static std::string no_return(const Probe& probe, const Place& place, TailCallers& known);
    static ObservedExit observed_exit(const Place& place);
    // Of places whose ends are seen in another way than was told.
    void tell_exits(Probe& probe);
    // Of those that end by jumps: probes where their calls come back to, in groups of their own.
    Result<void> attach_tails(const Probe& probe, std::vector<Place>& places,
                              std::vector<PlaceGroup>& groups, const TargetView& view,
                              TailCallers& known);
    // What is not found now.
    bool may_come(const ProbePattern& pattern, const TargetView& view);
    static std::string waits_for(const ProbePattern& pattern, const Error& problem);
    static Error nothing_to_time(const std::string& text, const ProbeReport& report);
    static std::string tail_note(const Place& place);
    Result<ProbeReport> add_span(const ProbeRequest& request, const TargetView& view);
    // A point of a span, and where it is; an error: in what may still come.
    using FoundPoint = std::pair<Probe, Result<ProbeMatches>>;
    Result<std::vector<FoundPoint>> find_points(const Probe& span, const TargetView& view);
    // Its spec, and probes at its points; all or nothing.
    Result<void> attach_span(Probe& span, const TargetView& view, ProbeReport& report);
    // Its points are no more.
    void remove_points(const Probe& span);
    // Why the place cannot be this point of a span; empty: it can.
    static std::string no_point(const PlaceMatch& match, const PointOfSpan& point);
    // Of a value program: the key, when there is one, is a number that is known at the point.
    Result<void> check_key(const PointOfSpan& point, std::optional<CallProgram>& program);
    // Of the user's probe that it is, or is a point of.
    void tell(const Probe& probe);
    static ProbePlace shown_place(const Place& place, const std::string& module);
    static ProbePlace shown_tracepoint(const Place& place);
    // What slow spans show: what the thread works for that ends one, where it may say so.
    Result<void> show_context(Probe& span, const TargetView& view, Transaction& edit);
    // Values are asked of a span, which has none.
    static Error no_values(const Probe& span);
    // Whose callers are where its calls end.
    static const std::string& jumping_function(const Probe& probe, const PlaceMatch& match);
    // Of a probe that waited for files: what came of it, if it waits no longer.
    void tell_what_was_read(const Probe& probe, const Result<ProbeMatches>& matches,
                            uint64_t now_ns);
    void fall_back_to_exits(Probe& probe, const TargetView& view, const std::string& reason,
                            uint64_t now_ns);
    void widen(Probe& probe, PlaceGroup& group, const TargetView& view, const std::string& reason,
               std::set<std::string>& problems, uint64_t now_ns);
    SpecSettings settings_of(const Probe& probe, const Place& place) const;
    CalledFunction values_of(const PlaceMatch& match, const TargetView& view) const;
    ProgramRequest request_for(const Probe& probe, const TargetView& view) const;
    // What threads work for is asked no longer.
    void forget_contexts();
    // The places' programs for what is asked of the probe now.
    Result<void> set_programs(Probe& probe, const TargetView& view, Transaction& edit);
    // Attaches the group's places anew, beside the present probes, which go when the edit is
    // committed. publish() puts them in force, by one store a place, so that no call is missed or
    // counted twice.
    Result<void> renew_group(Probe& probe, PlaceGroup& group, ExitWay exit, const TargetView& view,
                             Transaction& edit);
    // ... those in which one of these places is.
    Result<void> renew_groups_of(Probe& probe, const std::vector<const Place*>& moved,
                                 const TargetView& view, Transaction& edit);
    // What is asked of the calls of a new place.
    Result<void> ask(const Probe& probe, Place& place, std::optional<CallProgram> program);
    void remove_spec(SpecId spec);
    void take_off(Probe& probe, uint64_t now_ns);
    // Where no Go function is timed any more nobody asks for goroutines that wait.
    void forget_go_files();
    void watch_goroutines_of_exchanges(const TargetView& view);
    // Tells the kernel what is to be in force of the probe's places.
    Result<void> publish(const Probe& probe, Transaction& edit);
    AttachmentRequest request_for(ExitWay exit) const;
    static void add_sites(AttachmentRequest& request, const Place& place, uint64_t cookie);

    const Programs& programs_;
    Programs& measured_; // the same
    const Features& features_;
    CodeReaders& readers_;
    NativeFunctions& natives_;
    bool native_may_come_ = false; // what was not found by find() just now
    FileGuard& guard_;
    const Tracefs& tracefs_;
    EventSink& sink_;
    AttachWay way_;
    ExitChooser exits_;
    WayOut way_out_ = WayOut::automatic;
    bool lines_watched_ = false;
    SpecTable specs_;
    CallPrograms call_programs_;
    TimedFunctions functions_{specs_, call_programs_};
    ProbeStatistics statistics_{programs_, specs_, sink_};
    PointerCalls pointer_calls_;
    ExchangeSpans exchanges_{measured_, features_};
    GoSwitches go_switches_;
    std::set<FileIdentity> without_goroutines_; // programs that are known to be none of Go's
    ThreadContexts contexts_;
    std::optional<SplitRequest> split_;
    std::map<ProbeId, Probe> probes_;
    uint32_t next_point_ = first_point;
    std::set<std::string> problems_;          // that stand since the last update
    std::optional<uint64_t> executed_before_; // see take_executed_before()
};

} // namespace auger
