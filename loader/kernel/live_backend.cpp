// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_backend.h"

#include "loader/base/random_number.h"
#include "loader/kernel/clock.h"
#include "loader/kernel/clock_choice.h"
#include "loader/kernel/current_view.h"
#include "loader/kernel/emulated_processes.h"
#include "loader/kernel/emulator_watch.h"
#include "loader/kernel/kernel_access.h"
#include "loader/kernel/live_events.h"
#include "loader/kernel/live_explained.h"
#include "loader/kernel/live_filter.h"
#include "loader/kernel/live_gates.h"
#include "loader/kernel/live_ledger.h"
#include "loader/kernel/live_mappings.h"
#include "loader/kernel/live_marks.h"
#include "loader/kernel/live_names.h"
#include "loader/kernel/live_overhead.h"
#include "loader/kernel/live_probes.h"
#include "loader/kernel/live_readers.h"
#include "loader/kernel/live_sampling.h"
#include "loader/kernel/live_split.h"
#include "loader/kernel/live_statistics.h"
#include "loader/kernel/live_target.h"
#include "loader/kernel/live_unwind.h"
#include "loader/kernel/open_call_list.h"
#include "loader/kernel/periodic_work.h"
#include "loader/kernel/poll_loop.h"
#include "loader/kernel/probe_updates.h"
#include "loader/kernel/record_intake.h"
#include "loader/kernel/target_members.h"
#include "loader/kernel/task_waits.h"
#include "loader/process/capabilities.h"
#include "loader/process/listeners.h"
#include "loader/process/machine.h"
#include "loader/recording/recorders.h"
#include "loader/stream/tee.h"
#include "loader/tracepoints/find_tracepoints.h"

#include <linux/capability.h>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace auger {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How long a new target waits for its unwind tables, and the list of open calls for those of what
// was mapped a moment ago: those of most programs take less.
constexpr nanoseconds first_tables_timeout = milliseconds(250);
constexpr size_t most_threads_now = 65'536;        // that are told of at once
constexpr uint64_t slow_events_per_second = 1'000; // and CPU, beyond a burst of WIRE_SLOW_BURST

// Puts together what observes this machine, and each edit out of what its parts do for it.
class LiveBackend final : public Backend {
  public:
    LiveBackend(KernelAccess kernel, const LiveOptions& options, const SymbolizerOptions& symbols,
                EventSink& sink)
        : at_terminal_(options.at_terminal), readers_(symbols.readers), kernel_(std::move(kernel)),
          catalogue_(symbols.readers, options.go_on), target_(programs_, options.starter),
          filter_(programs_), tee_(sink), names_(tee_, options.retention, symbols),
          unwind_(programs_, names_, symbols.readers),
          probes_(programs_, kernel_.features, catalogue_, natives_, *kernel_.guard,
                  kernel_.tracefs, tee_, kernel_.way),
          marks_(programs_, catalogue_.readers(), *kernel_.guard, tee_, kernel_.way) {
        catalogue_.readers().set_time(AnswerTime::of_loop()); // but for commands
        tee_.on_machine(MachineId{}, this_machine());
        programs_.config().slow_interval_ns = 1'000'000'000 / slow_events_per_second;
    }

    bool replaying() const override { return false; }
    uint64_t now_ns() const override { return clock_ns(); }

    Result<void> set_target(const TargetSpec& spec) override;
    Result<void> check_target(const TargetSpec& spec) override;
    TargetStatus target_status() const override { return target_.status(); }
    Result<void> start_command() override;
    Result<ProbeReport> add_probe(const ProbeRequest& request) override;
    Result<void> check_probe(const ProbeRequest& request) override;
    Result<ProbePlan> plan_probe(const std::string& text) override;
    Result<CallSites> find_call_sites(const std::string& function) override;
    Result<UsdtProbes> find_usdt_probes(const std::string& pattern) override;
    Result<Listeners> find_listeners() override;
    Result<Tracepoints> list_tracepoints(const std::string& pattern) override {
        return probes_.list_tracepoints(pattern);
    }
    Result<void> remove_probe(ProbeId id) override;
    Result<void> set_attached(ProbeId id, bool attached) override;
    Result<void> set_slow(ProbeId id, const Threshold& threshold,
                          const CallConditions& conditions) override {
        const auto asking = wait_for_code();
        return probes_.set_slow(id, threshold, conditions, view_.get());
    }
    Result<void> set_only(const OnlyInfo& only) override;
    Result<std::vector<OpenCall>> open_calls(std::optional<ProbeId> probe) override;
    Result<std::vector<ThreadNow>> threads_now() override;
    Result<void> set_split(const SplitInfo& split) override;
    Result<void> set_explained(const ExplainRequest& wanted) override {
        loop_.deliver_all();
        return explained_.set(wanted, clock_ns());
    }
    Result<void> set_sampling(const SamplingSettings& settings) override {
        const auto asking = wait_for_code();
        auto set = sampling_.set(settings);
        if (set)
            probes_.watch_waits(sampling_.watches_waits(), view_.get());
        overhead_.begin(clock_ns());
        return set;
    }
    Result<void> set_filter(const FilterSpec& filter) override { return filter_.set(filter); }
    Result<void> set_way_out(WayOut way_out) override {
        probes_.set_way_out(way_out);
        return {};
    }
    void add_notice(const std::string& text) override { notice(text); }
    Result<void> record(const std::string& path) override;
    Result<void> record_intervals(const IntervalRecording& wanted) override;
    IntervalRecordings interval_recordings() const override { return recorders_.intervals(); }
    Result<void> keep_last(nanoseconds span) override {
        recorders_.keep_last(span);
        return {};
    }
    Result<void> write_last(const std::string& path) const override {
        return recorders_.write_last(path);
    }
    std::vector<uint64_t> links() const override;
    std::vector<Capability> capabilities() const override { return kernel_.features.describe(); }
    SymbolProgress symbol_progress() const override {
        SymbolProgress progress = names_.progress();
        progress.bytes += recorders_.memory_bytes();
        return progress;
    }
    bool keeps_samples_before(uint64_t time_ns) const override {
        // When the target has ended, and all that it left is here, nobody looks any more.
        const bool is_over = target_.ended() && !records_.more();
        return (!is_over && records_.misses_samples_before(time_ns)) ||
               events_.keeps_samples_before(time_ns);
    }
    UnwindStatus unwind_status() const override;
    ReaderStatus reader_status() const override { return status_of(*readers_); }
    std::vector<std::string> complete_function(std::string_view prefix,
                                               size_t limit) const override;
    Result<bool> poll(nanoseconds timeout, int wake_fd) override {
        return loop_.poll(timeout, wake_fd);
    }
    Result<void> refresh() override {
        loop_.refresh();
        return {};
    }
    void settle_symbols(nanoseconds timeout) override { names_.settle(timeout); }

  private:
    void notice(const std::string& text) { tee_.on_notice(clock_ns(), text); }
    // Whether a probe can be asked for now.
    Result<void> prepare_probe(const std::string& text);
    // Asks what is in files for a probe.
    template <typename Answer>
    Result<Answer> ask_of_probe(const ProbeRequest& request,
                                const std::function<Result<Answer>()>& ask);
    // Of a command, while it asks what is in files.
    WaitingForCode wait_for_code() const {
        return {catalogue_.readers(),
                at_terminal_ ? AnswerTime::of_terminal() : AnswerTime::endless()};
    }

    const bool at_terminal_;
    std::shared_ptr<ConfinedProcesses> readers_;
    KernelAccess kernel_;
    Programs& programs_ = *kernel_.programs;
    mutable ModuleCatalogue catalogue_;
    LiveTarget target_;
    LiveFilter filter_;
    Tee tee_;
    LiveNames names_;
    LiveUnwind unwind_;
    NativeFunctions natives_{names_, unwind_};
    LiveProbes probes_;
    LiveMarks marks_;
    LiveGates gates_{programs_, probes_};
    LiveSplit split_{probes_, marks_, gates_, tee_};
    LiveSampling sampling_{programs_, kernel_.features, gates_};
    LiveOverhead overhead_{programs_, probes_, marks_, sampling_};
    LiveEvents events_{tee_, names_, probes_.functions(), gates_};
    OpenCallList open_calls_{programs_, names_, unwind_, probes_.functions()};
    bool told_of_goroutines_ = false; // that they are left out

    // What follows the target.
    mutable CurrentView view_{target_, catalogue_};
    LiveExplained explained_{programs_, probes_, tee_};
    LiveStatistics statistics_{probes_, gates_, explained_};
    EmulatorWatch emulators_{view_, probes_, marks_};
    ProbeUpdates updates_{view_,          probes_,     marks_, catalogue_.readers(),
                          *kernel_.guard, statistics_, tee_};
    ClockChoice clocks_{sampling_, tee_};
    SpanSweep spans_{programs_, probes_};
    TargetMembers members_{target_,           view_,   updates_,
                           sampling_,         clocks_, overhead_.clock(),
                           names_.mappings(), spans_,  tee_};
    LiveMappings mappings_{kernel_.watch, target_, names_.mappings(), view_,
                           updates_,      clocks_, emulators_};

    // What goes on in poll().
    TaskWaits task_waits_{programs_, names_, events_, probes_, sampling_, target_, filter_};
    LiveLedger ledger_{
        programs_, *kernel_.ring, kernel_.watch,         catalogue_,  names_, updates_,
        sampling_, overhead_,     probes_.go_switches(), task_waits_, tee_};
    Recorders recorders_{tee_, random_number()};
    RecordIntake records_{*kernel_.ring, mappings_, unwind_, events_, members_};
    PeriodicWork work_{
        statistics_,           names_,  mappings_, updates_, overhead_, clocks_, members_, spans_,
        probes_.go_switches(), ledger_, tee_};
    PollLoop loop_{{kernel_.ring->fd(), kernel_.watch.fd(), kernel_.guard->fd(),
                    catalogue_.readers().answers_fd()},
                   records_,
                   unwind_,
                   members_,
                   updates_,
                   work_,
                   task_waits_,
                   recorders_,
                   target_,
                   tee_};
};

Result<void> LiveBackend::set_target(const TargetSpec& spec) {
    const auto asking = wait_for_code();
    auto target = target_.prepare(spec);
    if (!target)
        return target.error();
    const bool everything = spec.kind == TargetSpec::Kind::all;
    auto ticks = sampling_.prepare_target(everything, target->pids());
    if (!ticks)
        return ticks.error();
    if (auto set = target_.set(std::move(*target)); !set)
        return set;
    clocks_.begin_anew();
    members_.begin_anew();
    view_.expire();
    uint64_t now = clock_ns();
    if (!target_.waiting_to_start()) {
        bool all_read = true;
        for (pid_t pid : view_.get().pids)
            all_read &= names_.mappings().scan(pid, now).ok();
        if (!all_read && !kernel_.features.other_users)
            notice(lack_of_capability(CAP_SYS_PTRACE));
    }
    unwind_.settle(first_tables_timeout);
    updates_.on_target(now);
    sampling_.set_target(everything, target_.running(), std::move(*ticks));
    overhead_.clock().set_target(everything, target_.running());
    overhead_.begin(clock_ns());
    return {};
}

Result<void> LiveBackend::check_target(const TargetSpec& spec) {
    if (spec.kind == TargetSpec::Kind::command)
        return {};
    const auto target = target_.prepare(spec);
    if (!target)
        return target.error();
    const auto ticks = sampling_.prepare_target(spec.kind == TargetSpec::Kind::all, target->pids());
    if (!ticks)
        return ticks.error();
    return {};
}

Result<void> LiveBackend::start_command() {
    if (!target_.waiting_to_start())
        return {};
    auto started = target_.start_command();
    view_.expire();
    return started;
}

Result<void> LiveBackend::prepare_probe(const std::string& text) {
    if (target_.spec().kind == TargetSpec::Kind::none)
        return Error{"time", text, "there is no target", "set one first: `target PID`"};
    if (target_.ended())
        return Error{"time", text, "every process of the target has ended",
                     "observe another one: `target ...`"};
    // Which is no time that files take to be read.
    if (!overhead_.has_costs())
        overhead_.set_costs(probes_.measure_costs());
    return {};
}

template <typename Answer>
Result<Answer> LiveBackend::ask_of_probe(const ProbeRequest& request,
                                         const std::function<Result<Answer>()>& ask) {
    const std::string& text = request.text;
    if (auto prepared = prepare_probe(text); !prepared)
        return prepared.error();
    const auto asking = wait_for_code();
    // Processes may have mapped something a moment ago.
    loop_.deliver_all();
    view_.expire();
    // Which runtimes they have is told by their files.
    if (is_native_name(text) ||
        std::ranges::any_of(request.span.points, is_native_name, &SpanPoint::probe))
        unwind_.settle(first_tables_timeout);
    if (auto refused = refuse_emulators(view_.get(), "time", text); !refused)
        return refused.error();
    Result<Answer> answer = ask();
    if (!answer && view_.get().modules.empty() && !kernel_.features.other_users) {
        Error error = answer.error();
        error.hint = lack_of_capability(CAP_SYS_PTRACE);
        return error;
    }
    return answer;
}

Result<ProbeReport> LiveBackend::add_probe(const ProbeRequest& request) {
    return ask_of_probe<ProbeReport>(request, [&] { return probes_.add(request, view_.get()); });
}

Result<void> LiveBackend::check_probe(const ProbeRequest& request) {
    const auto plan = ask_of_probe<ProbePlan>(
        request, [&] { return probes_.plan(request, view_.get(), overhead_.costs()); });
    if (!plan)
        return plan.error();
    return {};
}

Result<ProbePlan> LiveBackend::plan_probe(const std::string& text) {
    ProbeRequest request;
    request.text = text;
    return ask_of_probe<ProbePlan>(
        request, [&] { return probes_.plan(request, view_.get(), overhead_.costs()); });
}

Result<CallSites> LiveBackend::find_call_sites(const std::string& function) {
    const auto asking = wait_for_code();
    if (target_.spec().kind == TargetSpec::Kind::none)
        return Error{"sites", function, "there is no target", "set one first: `target PID`"};
    loop_.deliver_all();
    view_.expire();
    return probes_.find_call_sites(function, view_.get());
}

Result<UsdtProbes> LiveBackend::find_usdt_probes(const std::string& pattern) {
    const auto asking = wait_for_code();
    if (target_.spec().kind == TargetSpec::Kind::none)
        return Error{"probes usdt", pattern, "there is no target", "set one first: `target PID`"};
    loop_.deliver_all();
    view_.expire();
    return probes_.find_usdt_probes(pattern, view_.get());
}

Result<Listeners> LiveBackend::find_listeners() {
    loop_.deliver_all();
    view_.expire();
    const TargetView& view = view_.get();
    return view.everything ? Listeners{} : listeners_of(view.pids);
}

Result<void> LiveBackend::remove_probe(ProbeId id) {
    loop_.deliver_all();
    statistics_.read(clock_ns());
    return probes_.remove(id);
}

Result<void> LiveBackend::set_attached(ProbeId id, bool attached) {
    const auto asking = wait_for_code();
    loop_.deliver_all();
    if (attached) {
        view_.expire();
        if (auto refused = refuse_emulators(view_.get(), "time", fmt::format("#{}", id.value));
            !refused)
            return refused;
    }
    statistics_.read(clock_ns());
    auto set = probes_.set_attached(id, attached, view_.get(), clock_ns());
    overhead_.begin(clock_ns());
    return set;
}

Result<void> LiveBackend::set_split(const SplitInfo& split) {
    const auto asking = wait_for_code();
    // What came so far belongs to the split before.
    loop_.deliver_all();
    statistics_.read(clock_ns());
    view_.expire();
    if (!split.branch.empty())
        if (auto refused = refuse_emulators(view_.get(), "split", split.branch.text()); !refused)
            return refused;
    return split_.set(split, view_.get());
}

Result<void> LiveBackend::set_only(const OnlyInfo& only) {
    const auto asking = wait_for_code();
    loop_.deliver_all();
    if (!only.lines.empty()) {
        view_.expire();
        if (auto refused = refuse_emulators(view_.get(), "only", only.lines.front()); !refused)
            return refused;
    }
    return split_.set_only(only, view_.get());
}

Result<std::vector<OpenCall>> LiveBackend::open_calls(std::optional<ProbeId> probe) {
    loop_.deliver_all();
    // Before the threads are looked at: what is known of them does not stay true for long.
    unwind_.settle(first_tables_timeout);
    const auto records = open_calls_.visit_calls();
    if (!records)
        return records.error();
    if (!told_of_goroutines_ && open_calls_.leaves_out_goroutines()) {
        told_of_goroutines_ = true;
        add_notice("open: calls of goroutines are counted but not listed, because this kernel "
                   "forbids BPF iterators over maps");
    }
    // What their stacks lie in was mapped by then.
    loop_.deliver_changes();
    return open_calls_.describe(*records, probe);
}

Result<std::vector<ThreadNow>> LiveBackend::threads_now() {
    loop_.deliver_all();
    unwind_.settle(first_tables_timeout);
    auto records = open_calls_.visit_threads();
    if (!records)
        return records.error();
    loop_.deliver_changes();
    if (records->size() > most_threads_now) {
        add_notice(fmt::format("stacks: {} threads beyond the first {} are left out",
                               records->size() - most_threads_now, most_threads_now));
        records->resize(most_threads_now);
    }
    return open_calls_.describe_threads(*records);
}

Result<void> LiveBackend::record(const std::string& path) {
    if (!path.empty()) {
        loop_.deliver_all();
        return recorders_.begin(path);
    }
    if (recorders_.recording())
        loop_.refresh();
    return recorders_.finish();
}

Result<void> LiveBackend::record_intervals(const IntervalRecording& wanted) {
    if (recorders_.recording_intervals())
        loop_.refresh();
    else if (!wanted.folder.empty())
        loop_.deliver_all();
    return recorders_.record_intervals(wanted, clock_ns());
}

std::vector<uint64_t> LiveBackend::links() const {
    std::vector<uint64_t> ids = programs_.link_ids();
    auto probes = probes_.link_ids();
    ids.insert(ids.end(), probes.begin(), probes.end());
    marks_.add_link_ids(ids);
    sampling_.add_link_ids(ids);
    std::sort(ids.begin(), ids.end());
    return ids;
}

// What stacks lack: tables, and names.
UnwindStatus LiveBackend::unwind_status() const {
    UnwindStatus status = unwind_.status();
    std::ranges::move(names_.notes(), std::back_inserter(status.notes));
    return status;
}

std::vector<std::string> LiveBackend::complete_function(std::string_view prefix,
                                                        size_t limit) const {
    if (auto names = complete_tracepoints(kernel_.tracefs, prefix, limit); !names.empty())
        return names;
    const auto asking = wait_for_code();
    return catalogue_.readers().complete(prefix, view_.get().files(), limit);
}

} // namespace

Result<std::unique_ptr<Backend>> make_live_backend(const LiveOptions& options, EventSink& sink) {
    auto symbols = symbolizer_options(options);
    if (!symbols)
        return symbols.error();
    auto kernel = KernelAccess::open(options);
    if (!kernel)
        return kernel.error();
    return std::unique_ptr<Backend>(new LiveBackend(*std::move(kernel), options, *symbols, sink));
}

std::vector<Capability> kernel_capabilities() {
    return Features::detect().describe();
}

} // namespace auger
