// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_backend.h"
#include "loader/process/machine.h"

#include "loader/kernel/clock.h"
#include "loader/kernel/copied_stacks.h"
#include "loader/kernel/emulated_processes.h"
#include "loader/kernel/event_rate.h"
#include "loader/kernel/event_ring.h"
#include "loader/kernel/features.h"
#include "loader/kernel/live_events.h"
#include "loader/kernel/live_filter.h"
#include "loader/kernel/live_gates.h"
#include "loader/kernel/live_marks.h"
#include "loader/kernel/live_names.h"
#include "loader/kernel/live_overhead.h"
#include "loader/kernel/live_probes.h"
#include "loader/kernel/live_sampling.h"
#include "loader/kernel/live_split.h"
#include "loader/kernel/live_target.h"
#include "loader/kernel/live_unwind.h"
#include "loader/kernel/open_call_list.h"
#include "loader/kernel/own_priority.h"
#include "loader/process/capabilities.h"
#include "loader/process/emulator.h"
#include "loader/process/proc_info.h"
#include "loader/process/process_watch.h"
#include "loader/recording/definition_log.h"
#include "loader/recording/flight_recorder.h"
#include "loader/recording/recording_writer.h"
#include "loader/stream/tee.h"
#include "loader/symbols/debuginfod.h"

#include <linux/capability.h>
#include <poll.h>
#include <sys/resource.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <map>
#include <set>
#include <unistd.h>

namespace auger {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How often the ring is emptied and the counters are read while somebody waits.
constexpr nanoseconds ring_interval = milliseconds(20);
// How often is looked whether a table has come that records wait for.
constexpr nanoseconds table_interval = milliseconds(1);
// How long a new target waits for its unwind tables, and the list of open calls for those of what
// was mapped a moment ago: those of most programs take less.
constexpr nanoseconds first_tables_timeout = milliseconds(250);
// Of records, and of names, before somebody who waits for poll() gets a look at what wakes it.
constexpr nanoseconds slice = milliseconds(4);
// How often is tried again to probe a file that somebody writes to.
constexpr uint64_t writer_interval_ns = 200'000'000;
constexpr uint64_t statistics_interval_ns = 100'000'000;
constexpr uint64_t ledger_interval_ns = 500'000'000;
constexpr uint64_t slow_events_per_second = 1'000; // and CPU, beyond a burst of WIRE_SLOW_BURST

// In the order of wire_loss.
constexpr std::array<const char*, WIRE_LOSSES> loss_names = {
    lost_samples,
    "call ends: event ring full",
    "slow calls: event ring full",
    "process events: event ring full",
    "slow calls: rate limit",
    "calls: nested deeper than 32",
    "calls: no memory for thread",
    "processes: target map full",
    "slow calls: no memory for thread",
    lost_wait_samples,
    "waits: no memory for thread",
    "calls through pointers: target unreadable",
    "values: no memory for thread",
};

void raise_limit(__rlimit_resource what, rlim_t least) {
    rlimit limit = {};
    if (getrlimit(what, &limit) != 0)
        return;
    const rlimit raised = {std::max(limit.rlim_cur, least), std::max(limit.rlim_max, least)};
    setrlimit(what, &raised);
}

// That only root may, before it gives the right to it up.
void raise_limits() {
    // One descriptor a sampled thread, link and mapped file: the default of 1,024 is soon used up.
    rlimit files = {};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        raise_limit(RLIMIT_NOFILE, files.rlim_max);
    // Instead of CAP_SYS_NICE (OwnPriority), and of CAP_IPC_LOCK: rings of perf events beyond what
    // a user may have, beside another auger's. Who is not root stays within the limits there are.
    raise_limit(RLIMIT_NICE, static_cast<rlim_t>(20 - OwnPriority::raised_nice));
    raise_limit(RLIMIT_MEMLOCK, RLIM_INFINITY);
}

class LiveBackend final : public Backend {
  public:
    LiveBackend(std::unique_ptr<Programs> programs, std::unique_ptr<EventRing> ring,
                ProcessWatch watch, std::unique_ptr<FileGuard> guard, const Features& features,
                AttachWay way, const LiveOptions& options, const SymbolizerOptions& symbols,
                EventSink& sink)
        : features_(features), readers_(symbols.readers), programs_(std::move(programs)),
          ring_(std::move(ring)), watch_(std::move(watch)), guard_(std::move(guard)),
          catalogue_(symbols.readers, options.go_on), target_(*programs_, options.starter),
          filter_(*programs_), names_(tee_, options.retention, symbols),
          unwind_(*programs_, names_.modules(), names_.mappings(), symbols.readers),
          probes_(*programs_, features_, catalogue_, *guard_, tee_, way),
          marks_(*programs_, catalogue_.readers(), *guard_, tee_, way), gates_(*programs_, probes_),
          split_(probes_, marks_, gates_, tee_), sampling_(*programs_, features_, gates_),
          events_(tee_, names_, probes_), open_calls_(*programs_, names_, unwind_, probes_) {
        tee_.add(sink);
        tee_.add(definitions_);
        tee_.on_machine(MachineId{}, this_machine());
        programs_->config().slow_interval_ns = 1'000'000'000 / slow_events_per_second;
        overhead_.set_costs(probes_.measure_costs());
    }

    bool replaying() const override { return false; }
    uint64_t now_ns() const override { return clock_ns(); }

    Result<void> set_target(const TargetSpec& spec) override;
    TargetStatus target_status() const override { return target_.status(); }
    Result<void> start_command() override;
    Result<ProbeReport> add_probe(const ProbeRequest& request) override;
    Result<CallSites> find_call_sites(const std::string& function) override;
    Result<void> remove_probe(ProbeId id) override;
    Result<void> set_attached(ProbeId id, bool attached) override;
    Result<void> set_slow(ProbeId id, const Threshold& threshold,
                          const CallConditions& conditions) override;
    Result<void> set_only(const OnlyInfo& only) override;
    Result<std::vector<OpenCall>> open_calls(std::optional<ProbeId> probe) override;
    Result<void> set_split(const SplitInfo& split) override;
    Result<void> set_sampling(const SamplingSettings& settings) override {
        auto set = sampling_.set(settings);
        overhead_.begin(clock_ns());
        return set;
    }
    Result<void> set_filter(const FilterSpec& filter) override { return filter_.set(filter); }
    Result<void> set_way_out(WayOut way_out) override;
    void add_notice(const std::string& text) override { notice(text); }
    Result<void> record(const std::string& path) override;
    Result<void> keep_last(nanoseconds span) override;
    Result<void> write_last(const std::string& path) const override;
    std::vector<uint64_t> links() const override;
    std::vector<Capability> capabilities() const override { return features_.describe(); }
    SymbolProgress symbol_progress() const override {
        SymbolProgress progress = names_.progress();
        progress.bytes += definitions_.memory_bytes();
        return progress;
    }
    UnwindStatus unwind_status() const override;
    ReaderStatus reader_status() const override {
        ReaderStatus status;
        status.limit = confined_memory_limit(most_confined_memory);
        for (const ConfinedMemory& memory : readers_->memory()) {
            ReaderStatus::Service& service = status.services[memory.service];
            service.processes++;
            service.bytes += memory.bytes;
        }
        return status;
    }
    std::vector<std::string> complete_function(std::string_view prefix,
                                               size_t limit) const override;
    Result<bool> poll(nanoseconds timeout, int wake_fd) override;
    Result<void> refresh() override;
    void settle_symbols(nanoseconds timeout) override { names_.settle(timeout); }

  private:
    const TargetView& view();
    void read_statistics(uint64_t now_ns);
    bool wait_until(uint64_t time_ns, int wake_fd);
    // Delivers some of what is there; returns how many records and changes that were. More is left
    // when the ring says so.
    size_t deliver(const TimeSlice&);
    void deliver_all();
    // Of mappings and processes alone; returns how many.
    size_t deliver_changes();
    void on_watch_event(const ProcessEvent& event);
    void on_end(const ProcessEvent& event);
    // Of processes whose first thread has ended.
    void look_for_ends();
    void rescan();
    void keep_from_emulator(const ProcessEvent& mapping);
    void on_process(const wire_process& process);
    void on_exited(pid_t pid);
    // Records of births and ends were lost: those that the kernel knows are added, those that it
    // knows no longer are taken out, which is right once all that was in the ring is handed over
    // (a birth may wait there whose end was lost).
    void add_missed_births();
    void find_missed_ends();
    void on_thread_birth(uint64_t time_ns);
    void sample_cpus(const std::string& why);
    void add_process(pid_t pid, const std::string& comm, bool inherits_sampling);
    void on_written_file(const ProbedFile& file);
    void update_probes(uint64_t now_ns);
    void report_ledger(uint64_t now_ns);
    uint64_t lost_by_ring() const;
    void notice(const std::string& text) { tee_.on_notice(clock_ns(), text); }

    Features features_;
    std::shared_ptr<ConfinedProcesses> readers_;
    OwnPriority priority_;
    std::unique_ptr<Programs> programs_;
    std::unique_ptr<EventRing> ring_;
    ProcessWatch watch_;
    std::unique_ptr<FileGuard> guard_;
    mutable ModuleCatalogue catalogue_;
    LiveTarget target_;
    LiveFilter filter_;
    Tee tee_;
    DefinitionLog definitions_;
    LiveNames names_;
    LiveUnwind unwind_;
    CopiedStacks copied_stacks_{unwind_};
    LiveProbes probes_;
    LiveMarks marks_;
    LiveGates gates_;
    LiveSplit split_;
    LiveSampling sampling_;
    LiveOverhead overhead_{*programs_, probes_, marks_};
    LiveEvents events_;
    OpenCallList open_calls_;

    std::unique_ptr<RecordingWriter> recording_;
    std::unique_ptr<FlightRecorder> flight_; // of keep_last()

    TargetView view_;
    std::set<pid_t> children_; // running ones that were born of the target, as the watch saw them
    std::map<pid_t, ProcessEvent> leaderless_; // by pid: the end of the first thread; others run
    bool view_is_old_ = true;        // processes or their modules have changed since view_ was made
    bool probes_are_old_ = false;    // ... since the probes were told
    bool rescan_ = false;            // mapping events were lost
    uint64_t reconciled_losses_ = 0; // of births and ends
    bool missed_ends_ = false;       // to be found
    // Births and ends of threads, those that begin and end processes among them.
    EventRate process_births_, births_, ends_;
    bool processes_are_born_often_ = false, threads_are_short_lived_ = false; // of this target
    bool came_before_probes(uint64_t time_ns) const {
        return probes_.per_process() || time_ns < probes_for_all_since_ns_;
    }
    uint64_t probes_for_all_since_ns_ = 0; // 0: they are not, or were from the beginning
    uint64_t late_probes_ = 0; // processes whose libraries were not probed from their birth on
    uint64_t next_delivery_ns_ = 0;
    uint64_t next_statistics_ns_ = 0;
    uint64_t next_ledger_ns_ = 0;
    uint64_t next_probes_update_ns_ = 0;
    static constexpr uint64_t rescan_share = 4; // of the time that one took, until the next
    uint64_t next_rescan_ns_ = 0;
    // Found to be none, until they execute or map one.
    static constexpr size_t most_no_emulators = 10'000;
    std::set<pid_t> no_emulators_;
};

const TargetView& LiveBackend::view() {
    if (!view_is_old_)
        return view_;
    view_is_old_ = false;
    view_ = {};
    view_.everything = target_.everything();
    view_.by_name = target_.spec().kind == TargetSpec::Kind::name;
    view_.started = !target_.waiting_to_start();
    view_.births_often = processes_are_born_often_;
    if (view_.everything) {
        if (auto pids = all_pids()) {
            view_.pids = *pids;
            std::erase(view_.pids, getpid());
        }
    } else {
        view_.pids = target_.running();
    }
    if (view_.started) {
        view_.modules = catalogue_.modules_of(view_.pids);
    } else if (!target_.command_path().empty()) {
        view_.modules = catalogue_.modules_of_program(target_.command_path());
        for (TargetModule& module : view_.modules)
            module.pids.insert(view_.pids.begin(), view_.pids.end());
    }
    return view_;
}

Result<void> LiveBackend::set_target(const TargetSpec& spec) {
    auto target = target_.prepare(spec);
    if (!target)
        return target.error();
    const bool everything = spec.kind == TargetSpec::Kind::all;
    auto ticks = sampling_.prepare_target(everything, target->pids());
    if (!ticks)
        return ticks.error();
    if (auto set = target_.set(std::move(*target)); !set)
        return set;
    process_births_ = births_ = ends_ = {};
    processes_are_born_often_ = threads_are_short_lived_ = false;
    uint64_t now = clock_ns();
    view_is_old_ = true;
    if (!target_.waiting_to_start()) {
        bool all_read = true;
        for (pid_t pid : view().pids)
            all_read &= names_.mappings().scan(pid, now).ok();
        if (!all_read && !features_.other_users)
            notice(lack_of_capability(CAP_SYS_PTRACE));
    }
    unwind_.settle(first_tables_timeout);
    // Whom nobody observes any more must not pay for probes.
    probes_.leave_others(view());
    marks_.leave_others(view());
    probes_.update(view(), now);
    marks_.update(view(), now);
    sampling_.set_target(everything, target_.running(), std::move(*ticks));
    overhead_.clock().set_target(everything, target_.running());
    overhead_.begin(clock_ns());
    return {};
}

Result<void> LiveBackend::start_command() {
    if (!target_.waiting_to_start())
        return {};
    auto started = target_.start_command();
    view_is_old_ = true;
    return started;
}

Result<ProbeReport> LiveBackend::add_probe(const ProbeRequest& request) {
    if (target_.spec().kind == TargetSpec::Kind::none)
        return Error{"time", request.text, "there is no target", "set one first: `target PID`"};
    if (target_.ended())
        return Error{"time", request.text, "every process of the target has ended",
                     "observe another one: `target ...`"};
    // Processes may have mapped something a moment ago.
    deliver_all();
    view_is_old_ = true;
    if (auto refused = refuse_emulators(view(), "time", request.text); !refused)
        return refused.error();
    auto added = probes_.add(request, view());
    if (!added && view().modules.empty() && !features_.other_users) {
        Error error = added.error();
        error.hint = lack_of_capability(CAP_SYS_PTRACE);
        return error;
    }
    return added;
}

Result<CallSites> LiveBackend::find_call_sites(const std::string& function) {
    if (target_.spec().kind == TargetSpec::Kind::none)
        return Error{"sites", function, "there is no target", "set one first: `target PID`"};
    deliver_all();
    view_is_old_ = true;
    return probes_.find_call_sites(function, view());
}

Result<void> LiveBackend::remove_probe(ProbeId id) {
    deliver_all();
    read_statistics(clock_ns());
    return probes_.remove(id);
}

Result<void> LiveBackend::set_attached(ProbeId id, bool attached) {
    deliver_all();
    view_is_old_ |= attached;
    if (attached)
        if (auto refused = refuse_emulators(view(), "time", fmt::format("#{}", id.value)); !refused)
            return refused;
    read_statistics(clock_ns());
    auto set = probes_.set_attached(id, attached, view(), clock_ns());
    overhead_.begin(clock_ns());
    return set;
}

Result<void> LiveBackend::set_slow(ProbeId id, const Threshold& threshold,
                                   const CallConditions& conditions) {
    return probes_.set_slow(id, threshold, conditions, view());
}

void LiveBackend::read_statistics(uint64_t now_ns) {
    probes_.read_statistics(
        now_ns, [this](ProbeId probe, const StatsEvent& event) { gates_.on_stats(probe, event); });
}

Result<void> LiveBackend::set_split(const SplitInfo& split) {
    // What came so far belongs to the split before.
    deliver_all();
    read_statistics(clock_ns());
    view_is_old_ = true;
    if (!split.branch.empty())
        if (auto refused = refuse_emulators(view(), "split", split.branch); !refused)
            return refused;
    return split_.set(split, view());
}

Result<void> LiveBackend::set_only(const OnlyInfo& only) {
    deliver_all();
    view_is_old_ |= !only.lines.empty();
    if (!only.lines.empty())
        if (auto refused = refuse_emulators(view(), "only", only.lines.front()); !refused)
            return refused;
    return split_.set_only(only, view());
}

Result<std::vector<OpenCall>> LiveBackend::open_calls(std::optional<ProbeId> probe) {
    deliver_all();
    // Before the threads are looked at: what is known of them does not stay true for long.
    unwind_.settle(first_tables_timeout);
    const auto records = open_calls_.visit_threads();
    if (!records)
        return records.error();
    // What their stacks lie in was mapped by then.
    deliver_changes();
    return open_calls_.describe(*records, probe);
}

Result<void> LiveBackend::set_way_out(WayOut way_out) {
    probes_.set_way_out(way_out);
    return {};
}

Result<void> LiveBackend::record(const std::string& path) {
    if (path.empty()) {
        if (!recording_)
            return Error{"record", "off", "nothing is being recorded", ""};
        if (auto refreshed = refresh(); !refreshed)
            return refreshed;
        // One that is not whole stays until who asked has been told why, and asks again.
        if (auto finished = recording_->finish(); !finished)
            return finished;
        tee_.remove(*recording_);
        recording_.reset();
        return {};
    }
    if (recording_)
        return Error{"record", path, "already recording to " + recording_->path(),
                     "`record off` ends that"};
    auto writer = RecordingWriter::create(path);
    if (!writer)
        return writer.error();
    deliver_all();
    definitions_.replay(**writer);
    recording_ = std::move(*writer);
    tee_.add(*recording_);
    return {};
}

Result<void> LiveBackend::keep_last(nanoseconds span) {
    if (flight_)
        tee_.remove(*flight_);
    flight_.reset();
    if (span > nanoseconds(0)) {
        flight_ = std::make_unique<FlightRecorder>(static_cast<uint64_t>(span.count()));
        tee_.add(*flight_);
    }
    return {};
}

Result<void> LiveBackend::write_last(const std::string& path) const {
    if (!flight_)
        return Error{"record", path, "nothing of the past is kept", ""};
    auto writer = RecordingWriter::create(path);
    if (!writer)
        return writer.error();
    definitions_.replay(**writer);
    flight_->write(**writer);
    return (*writer)->finish();
}

std::vector<uint64_t> LiveBackend::links() const {
    std::vector<uint64_t> ids = programs_->link_ids();
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
    return catalogue_.readers().complete(prefix, const_cast<LiveBackend*>(this)->view().files(),
                                         limit);
}

void LiveBackend::add_process(pid_t pid, const std::string& comm, bool inherits_sampling) {
    target_.on_started(pid, comm);
    overhead_.clock().on_started(pid);
    view_is_old_ = true;
    probes_are_old_ = true;
    if (auto added = sampling_.add_process(pid, inherits_sampling); !added)
        notice(added.error().message());
}

void LiveBackend::on_watch_event(const ProcessEvent& event) {
    using Kind = ProcessEvent::Kind;
    if (event.kind == Kind::lost) {
        // Whatever was mapped meanwhile may hold what a probe waits for, or speak against return
        // probes.
        rescan_ = view_is_old_ = probes_are_old_ = true;
        no_emulators_.clear();
        return;
    }
    auto pid = static_cast<pid_t>(event.pid);
    if (event.kind == Kind::exec || event.kind == Kind::exit)
        no_emulators_.erase(pid);
    if (event.kind == Kind::mmap && !(probes_.empty() && marks_.empty()))
        keep_from_emulator(event);
    // The ring's word of a new child comes after its first mappings, so births are noted here too.
    if (event.new_process() && (target_.contains(static_cast<pid_t>(event.parent_pid)) ||
                                children_.contains(static_cast<pid_t>(event.parent_pid))))
        children_.insert(pid);
    bool concerns_us = target_.everything() || target_.contains(pid) || children_.contains(pid);
    if (!concerns_us || pid == getpid())
        return;
    if (event.kind == Kind::exit) {
        ends_.add(event.time);
        // Its other threads have what is mapped to themselves now.
        if (event.tid == event.pid && !has_ended(pid))
            leaderless_[pid] = event;
        else if (event.tid == event.pid)
            on_end(event);
        return;
    }
    if (event.kind == Kind::fork)
        on_thread_birth(event.time);
    if (event.new_process() || event.kind == Kind::exec)
        leaderless_.erase(pid);
    names_.mappings().apply(event);
    if (event.kind == Kind::mmap || event.kind == Kind::exec) {
        view_is_old_ = true;
        probes_are_old_ = true;
    }
}

void LiveBackend::on_end(const ProcessEvent& event) {
    names_.mappings().apply(event);
    children_.erase(static_cast<pid_t>(event.pid));
}

void LiveBackend::look_for_ends() {
    std::erase_if(leaderless_, [&](const auto& process) {
        if (!has_ended(process.first))
            return false;
        on_end(process.second);
        return true;
    });
}

// Events were lost: mappings, births and ends may be missing.
void LiveBackend::rescan() {
    view_is_old_ = true;
    probes_are_old_ = true;
    for (pid_t pid : view().pids)
        (void)names_.mappings().scan(pid, clock_ns());
}

// An emulator is about to translate a file that is probed for every process.
void LiveBackend::keep_from_emulator(const ProcessEvent& mapping) {
    const auto pid = static_cast<pid_t>(mapping.pid);
    if (!emulator_mapping(mapping.text).empty())
        no_emulators_.erase(pid);
    const auto module = std::ranges::find(
        view_.modules, FileIdentity{mapping.device, mapping.inode}, &TargetModule::mapped);
    // A look takes as long as a process has mappings, and who maps files in a loop is looked at
    // once.
    if (module == view_.modules.end() || no_emulators_.contains(pid))
        return;
    const std::string emulator = emulator_of(pid);
    if (emulator.empty()) {
        if (no_emulators_.size() >= most_no_emulators)
            no_emulators_.clear();
        no_emulators_.insert(pid);
        return;
    }
    const std::string why = fmt::format(
        "process {} runs {} under {}, which would die of its probes", pid, module->path, emulator);
    probes_.withdraw(module->identity(), why, clock_ns());
    marks_.withdraw(module->identity(), why, clock_ns());
}

void LiveBackend::on_process(const wire_process& process) {
    auto pid = static_cast<pid_t>(process.event.pid);
    std::string comm(wire_comm(process.comm));
    switch (process.change) {
    case WIRE_PROCESS_FORKED:
        process_births_.add(process.event.time_ns);
        if (!processes_are_born_often_ && process_births_.often(process.event.time_ns))
            processes_are_born_often_ = view_is_old_ = probes_are_old_ = true;
        late_probes_ += came_before_probes(process.event.time_ns);
        add_process(static_cast<pid_t>(process.child_pid), comm, true);
        break;
    case WIRE_PROCESS_EXECED:
        // One that became a target by its new name: its mappings so far went by as a stranger's.
        if (!target_.contains(pid)) {
            (void)names_.mappings().scan(pid, process.event.time_ns);
            late_probes_ += came_before_probes(process.event.time_ns);
        }
        add_process(pid, comm, target_.contains(pid));
        break;
    case WIRE_PROCESS_EXITED:
        if (target_.contains(pid)) {
            overhead_.clock().on_exited(pid, process.cpu_ns);
            on_exited(pid);
        }
        break;
    default:
        break;
    }
}

void LiveBackend::on_exited(pid_t pid) {
    const bool ran = target_.is_running(pid);
    target_.on_exited(pid);
    overhead_.clock().on_exited(pid, 0);
    probes_.forget_process(pid);
    marks_.forget_process(pid);
    sampling_.forget_process(pid);
    view_is_old_ = true;
    if (ran && (pid != target_.status().processes.front().pid || target_.command_pidfd() < 0))
        notice(fmt::format("{} ({}): exited", target_.name_of(pid), pid));
}

void LiveBackend::add_missed_births() {
    for (pid_t pid : target_.compare_with_kernel().born) {
        auto comm = comm_of(pid);
        (void)names_.mappings().scan(pid, clock_ns());
        add_process(pid, comm ? *comm : "", true);
    }
}

void LiveBackend::find_missed_ends() {
    for (pid_t pid : target_.compare_with_kernel().ended)
        on_exited(pid);
}

// Others come while many go: a program that starts all its threads at once, as servers do, has no
// short-lived ones.
void LiveBackend::on_thread_birth(uint64_t time_ns) {
    births_.add(time_ns);
    if (threads_are_short_lived_ || !births_.often(time_ns) || !ends_.often(time_ns))
        return;
    threads_are_short_lived_ = true;
    sample_cpus("threads of the target are born and end often");
}

void LiveBackend::sample_cpus(const std::string& why) {
    auto set = sampling_.sample_cpus();
    notice(set ? why + ": the CPUs are sampled, of which only what the target runs counts, so that "
                       "short-lived ones are not missed, and others not slowed down by clocks of "
                       "their own"
               : set.error().message());
}

void LiveBackend::deliver_all() {
    // What was in the ring at the beginning, however fast it is filled meanwhile.
    for (size_t passes = 0; passes < EventRing::passes; passes++) {
        do {
            if (copied_stacks_.waiting())
                unwind_.settle(table_interval);
            deliver(TimeSlice::endless());
        } while (copied_stacks_.waiting());
        if (!ring_->more())
            return;
    }
}

size_t LiveBackend::deliver_changes() {
    const size_t changes =
        watch_.poll([this](const ProcessEvent& event) { on_watch_event(event); });
    // While events are lost all the time, a small share of it.
    if (const uint64_t now = clock_ns(); rescan_ && now >= next_rescan_ns_) {
        rescan_ = false;
        rescan();
        next_rescan_ns_ = clock_ns() + rescan_share * (clock_ns() - now);
    }
    unwind_.update(clock_ns());
    return changes;
}

size_t LiveBackend::deliver(const TimeSlice& until) {
    const bool missed_ends = missed_ends_; // those before what is collected now
    ring_->collect();
    // Mappings that a collected sample lies in came before it, and so are in the watch's rings now.
    size_t changes = deliver_changes();
    const size_t records = ring_->drain(until, [this](WireView& view) {
        if (auto* sample = std::get_if<WireSampleView>(&view)) {
            if (!copied_stacks_.complete(*sample, clock_ns()))
                return false;
            events_.on_sample(*sample);
        } else if (const auto* end = std::get_if<WireCallEndView>(&view)) {
            events_.on_call_end(*end);
        } else if (const auto* slow = std::get_if<WireSlowCallView>(&view)) {
            events_.on_slow_call(*slow);
        } else {
            on_process(*std::get<const wire_process*>(view));
        }
        return true;
    });
    if (missed_ends && ring_->caught_up()) {
        missed_ends_ = false;
        add_missed_births();
        find_missed_ends();
    }
    if (auto ended = target_.collect_command()) {
        notice(*ended);
        view_is_old_ = true;
        changes++;
    }
    for (const auto& file : guard_->take_changed())
        on_written_file(*file);
    uint64_t now = clock_ns();
    if (probes_are_old_ && now >= next_probes_update_ns_)
        update_probes(now);
    if (now >= next_statistics_ns_) {
        next_statistics_ns_ = now + statistics_interval_ns;
        if (auto changed = priority_.update(now, lost_by_ring()))
            notice(*changed);
        look_for_ends();
        read_statistics(now);
        names_.deliver(TimeSlice(clock_ns, slice));
    }
    const bool measured = overhead_.update(now);
    if (measured && sampling_.wants_cpus())
        sample_cpus("the target has many threads");
    if (measured || now >= next_ledger_ns_)
        report_ledger(now);
    if (recording_) {
        if (auto error = recording_->take_error())
            notice(error->message());
    }
    // What has not been handed over yet was before.
    if (!ring_->more())
        tee_.on_time(now);
    return records + changes;
}

// Its probes are off already, and the writer goes on.
void LiveBackend::on_written_file(const ProbedFile& file) {
    read_statistics(clock_ns());
    probes_.forget_withdrawn();
    marks_.forget_withdrawn();
    view_is_old_ = true;
    probes_are_old_ = true;
    notice(fmt::format("{}: was opened for writing, so its probes are off; what it holds then is "
                       "probed when a process maps it, and calls until then are not counted",
                       file.path()));
}

void LiveBackend::update_probes(uint64_t now_ns) {
    probes_are_old_ = false;
    if (probes_.empty() && marks_.empty())
        return;
    const uint64_t refused = guard_->refused();
    const bool per_process = probes_.per_process();
    probes_.update(view(), now_ns);
    // Records of births before that are still to be read.
    if (per_process && !probes_.per_process())
        probes_for_all_since_ns_ = clock_ns();
    marks_.update(view(), now_ns);
    if (guard_->refused() != refused) {
        view_is_old_ = true;
        probes_are_old_ = true;
        next_probes_update_ns_ = now_ns + writer_interval_ns;
    }
    // Of a whole machine some process always maps something: reading them all must not take more
    // than a small share of our time. Fewer processes may take half of it, since return probes may
    // have to go.
    const uint64_t share = target_.everything() ? 20 : 2;
    next_probes_update_ns_ =
        std::max(next_probes_update_ns_, now_ns + share * (clock_ns() - now_ns));
}

void LiveBackend::report_ledger(uint64_t now_ns) {
    next_ledger_ns_ = now_ns + ledger_interval_ns;
    LedgerEvent ledger;
    ledger.time_ns = now_ns;
    sampling_.report(ledger);
    ledger.overhead = overhead_.last();
    ledger.gated_slow_calls = programs_->gated_slow_calls();
    auto losses = programs_->losses();
    for (size_t cause = 0; cause < losses.size(); cause++)
        ledger.lost[loss_names[cause]] = losses[cause];
    ledger.lost["records: malformed"] = ring_->malformed() + watch_.malformed();
    ledger.lost["mapping events: perf ring full"] = watch_.lost();
    ledger.lost["processes: libraries not probed from birth on"] = late_probes_;
    if (std::exchange(reconciled_losses_, losses[WIRE_LOSS_RING_PROCESS]) !=
        losses[WIRE_LOSS_RING_PROCESS]) {
        add_missed_births();
        missed_ends_ = true;
    }
    ledger.lost["files: more than are looked into for one user"] = catalogue_.left_out();
    ledger.lost[fmt::format("mappings: more than {} in a process",
                            ModuleMap::Limits{}.mappings_per_image)] =
        names_.mappings().refused_mappings();
    tee_.on_ledger(ledger);
}

// Events of all kinds that found the ring full.
uint64_t LiveBackend::lost_by_ring() const {
    const auto losses = programs_->losses();
    uint64_t all = 0;
    for (const wire_loss cause : {WIRE_LOSS_RING_SAMPLE, WIRE_LOSS_RING_CALL, WIRE_LOSS_RING_SLOW,
                                  WIRE_LOSS_RING_PROCESS, WIRE_LOSS_RING_WAIT})
        all += losses[cause];
    return all;
}

Result<void> LiveBackend::refresh() {
    deliver_all();
    uint64_t now = clock_ns();
    read_statistics(now);
    names_.deliver(TimeSlice::endless());
    report_ledger(now);
    tee_.on_time(now);
    return {};
}

Result<bool> LiveBackend::poll(nanoseconds timeout, int wake_fd) {
    uint64_t deadline = clock_ns() + static_cast<uint64_t>(std::max<int64_t>(timeout.count(), 0));
    for (;;) {
        // The ring is emptied in steps, however often there is something in it; what is left of one
        // goes on at once.
        uint64_t until = ring_->more() ? 0 : std::min(deadline, next_delivery_ns_);
        if (copied_stacks_.waiting())
            until = std::min(deadline, clock_ns() + static_cast<uint64_t>(table_interval.count()));
        const bool woken = wait_until(until, wake_fd);
        const size_t delivered = deliver(TimeSlice(clock_ns, slice));
        next_delivery_ns_ = clock_ns() + static_cast<uint64_t>(ring_interval.count());
        // What the last process left behind must be delivered before the end is announced.
        if (target_.ended() && delivered == 0 && !ring_->more()) {
            if (auto refreshed = refresh(); !refreshed)
                return refreshed.error();
            return false;
        }
        if ((delivered && !ring_->more()) || woken || clock_ns() >= deadline)
            return true;
    }
}

// True when `wake_fd` ended the wait. What processes do and a ring that fills up end it too.
bool LiveBackend::wait_until(uint64_t time_ns, int wake_fd) {
    const uint64_t now = std::min(clock_ns(), time_ns);
    std::array<pollfd, 5> waiting = {{{ring_->fd(), POLLIN, 0},
                                      {watch_.fd(), POLLIN, 0},
                                      {wake_fd, POLLIN, 0},
                                      {guard_->fd(), POLLIN, 0},
                                      {target_.ended() ? -1 : target_.command_pidfd(), POLLIN, 0}}};
    const timespec wait = {static_cast<time_t>((time_ns - now) / 1'000'000'000),
                           static_cast<long>((time_ns - now) % 1'000'000'000)};
    ppoll(waiting.data(), waiting.size(), &wait, nullptr);
    return waiting[2].revents != 0;
}

} // namespace

Result<std::unique_ptr<Backend>> make_live_backend(const LiveOptions& options, EventSink& sink) {
    SymbolizerOptions symbols;
    symbols.readers = options.readers;
    if (!symbols.readers) {
        auto readers = ConfinedProcesses::start(reader_program());
        if (!readers)
            return readers.error();
        symbols.readers = *std::move(readers);
    }
    if (options.debuginfod) {
        auto fetching = ConfinedProcesses::start(networked_reader_program());
        if (!fetching)
            return fetching.error();
        auto debuginfod = Debuginfod::open(*std::move(fetching));
        if (!debuginfod)
            return debuginfod.error();
        symbols.debuginfod = *std::move(debuginfod);
    }
    raise_limits();
    // Before there is anything for others to have their share of. Where they cannot be had, a kill
    // in the middle of detaching leaves breakpoints behind.
    std::shared_ptr<LinkProcesses> links;
    if (auto started = LinkProcesses::start())
        links = *std::move(started);
    Features features = Features::detect(links.get());
    if (!features.privileged)
        return Error{"observe this machine", "",
                     "tracing programs may not be loaded, " + features.privilege_fault,
                     "run as root, or with CAP_BPF and CAP_PERFMON", Error::Kind::unsupported};
    if (!features.perf_events)
        return Error{"observe this machine", "", "perf events may not be opened",
                     perf_events_remedy, Error::Kind::unsupported};
    if (!features.btf)
        return Error{"observe this machine", "", "the kernel has no type information (BTF)",
                     "use a kernel with CONFIG_DEBUG_INFO_BTF", Error::Kind::unsupported};
    if (options.attach == LiveOptions::Attach::multi && !features.uprobe_multi)
        return Error{
            "attach", "multi", "no uprobe_multi links can be used: " + features.uprobe_multi_fault,
            "Linux 6.6 or later has them; `--attach perf` works here", Error::Kind::unsupported};
    AttachWay way = options.attach != LiveOptions::Attach::perf && features.uprobe_multi
                        ? AttachWay::multi
                        : AttachWay::perf;
    if (links && way == AttachWay::multi)
        links->give_up_perf_events();
    if (options.give_up_rights && !keep_capabilities(capabilities_to_keep(
                                      way == AttachWay::perf || features.perf_events_take_admin
                                          ? Work::observing_by_perf_events
                                          : Work::observing)))
        return system_error("give up", "capabilities");
    auto programs =
        Programs::load({way == AttachWay::multi, way == AttachWay::multi && features.uprobe_session,
                        features.context_switches, features.task_iterators});
    if (!programs)
        return programs.error();
    auto ring = EventRing::make((*programs)->map_fd(MapKind::events));
    if (!ring)
        return ring.error();
    auto watch = ProcessWatch::make();
    if (!watch)
        return watch.error();
    auto guard = FileGuard::make(std::move(links));
    if (!guard)
        return guard.error();
    return std::unique_ptr<Backend>(new LiveBackend(std::move(*programs), std::move(*ring),
                                                    std::move(*watch), std::move(*guard), features,
                                                    way, options, symbols, sink));
}

std::vector<Capability> kernel_capabilities() {
    return Features::detect().describe();
}

} // namespace auger
