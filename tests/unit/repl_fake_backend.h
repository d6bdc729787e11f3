// SPDX-License-Identifier: GPL-3.0-or-later
// A Backend without a kernel: its clock moves only when somebody waits, every probe has 20 calls
// every 20 ms of it (19 of 1 ms in `parse`, one of 10 ms in `rebuild` which has marks 0 and 1), and
// any operation can be made to fail.
#pragma once

#include "loader/backend.h"
#include "loader/process/output_file.h"
#include "repl/commands/table.h"
#include "repl/session/output.h"
#include "repl/session/session.h"
#include "tests/unit/synthetic_stream.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace auger {

class FakeBackend final : public Backend {
  public:
    explicit FakeBackend(EventSink& sink) : sink_(sink), stream_(sink) {}

    // What was asked for, one operation each: "add 1 handle", "split 1 p95", "sample 999".
    std::vector<std::string> log;
    // Operations that fail from now on, by their log line or its first word.
    std::set<std::string> failing;
    std::set<std::string> throwing; // likewise, but with an exception, as nothing should
    Error::Kind failure_kind = Error::Kind::failed;
    std::string failing_subject = "it";
    std::optional<Error::Range> failing_at;
    bool is_replay = false;
    uint64_t has_samples_before = UINT64_MAX; // later ones are still to come
    IntervalRecordings recorded_intervals;    // as record_intervals() has written them
    Overhead overhead;                        // what the ledger says
    std::string process_name = "se\x1brver";
    uint32_t second_process = 0; // of the target, always in `ns::own(int)`; 0: there is none
    std::vector<HostReport> observed_hosts;
    UsdtProbes marks; // points of auger.h
    bool command_started = false;
    uint64_t ends_at = UINT64_MAX; // the target exits, or the recording ends
    std::vector<std::string> functions{"handle", "hand_over", "ns::f(int, char)"};

    std::string slow_callee = "rebuild"; // as its file names it
    size_t calls_a_round = 20;           // of every probe
    uint64_t clock() const { return clock_; }
    std::set<uint32_t> ids_seen;

    bool replaying() const override { return is_replay; }
    uint64_t now_ns() const override { return clock_; }
    Result<void> set_target(const TargetSpec& spec) override {
        auto done = act("target " + std::to_string(static_cast<int>(spec.kind)));
        if (done)
            target_ = spec;
        return done;
    }
    TargetStatus target_status() const override {
        TargetStatus status{target_, {}};
        if (target_.kind != TargetSpec::Kind::none)
            status.processes.push_back({4711, process_name, "us\x1bname", clock_ < ends_at,
                                        clock_ < ends_at ? "" : "exit code 0"});
        if (second_process != 0)
            status.processes.push_back(
                {static_cast<pid_t>(second_process), "second", "", clock_ < ends_at, ""});
        return status;
    }
    Result<void> start_command() override {
        command_started = true;
        return act("start");
    }
    Result<ProbeReport> add_probe(const ProbeRequest& request) override {
        auto done = act(fmt::format("add {} {}{}", request.id.value, request.text,
                                    request.span.empty() ? "" : " " + request.span.text));
        if (!done)
            return done.error();
        if (!ids_seen.insert(request.id.value).second)
            return Error{"add probe", request.text, "an id came twice", ""};
        const SpecId spec = stream_.add_spec(request.id.value, request.text);
        probes_[request.id.value] = {request.text, spec, request.slow, request.conditions};
        announce(request.id.value, false);
        ProbeReport report;
        report.places = {{spec, request.text, "/usr/bin/ser\tvice", 0x1000, "entry+ret", ""}};
        report.notes = {"exit probes: exit instructions"};
        return report;
    }
    Result<void> remove_probe(ProbeId id) override {
        auto done = act(fmt::format("remove {}", id.value));
        if (done) {
            announce(id.value, true);
            probes_.erase(id.value);
        }
        return done;
    }
    Result<void> set_attached(ProbeId id, bool attached) override {
        auto done = act(fmt::format("{} {}", attached ? "attach" : "detach", id.value));
        if (done) {
            probes_[id.value].off = !attached;
            announce(id.value, false);
        }
        return done;
    }
    void add_notice(const std::string& text) override { notice(text); }
    Result<ProbePlan> plan_probe(const std::string& text) override {
        auto done = act("plan " + text);
        if (!done)
            return done.error();
        ProbePlan plan;
        plan.report.places = {
            {{}, "ns::handle", "/usr/bin/service", 0x1200, "entry+ret", ""},
            {{}, "ns::parse", "/usr/bin/service", 0x1400, "entry+ret", "a clone"}};
        plan.costs = {ProbePlan::Cost{1'000, 9'000}, ProbePlan::Cost{2'000, 2'000}};
        plan.report.skipped = {"ns::hand: no safe place"};
        plan.report.notes = {"exit probes: exit instructions, because it can throw"};
        plan.costs_measured = true;
        return plan;
    }
    Result<CallSites> find_call_sites(const std::string& function) override {
        auto done = act("sites " + function);
        if (!done)
            return done.error();
        return CallSites{
            {{function, "ns::parse", "/src/main.cc", 12, "/usr/bin/service", 0x1020, "call+return"},
             {function, "rebuild", "/src/tree.cc", 7, "/usr/bin/service", 0x2040,
              "call+return (stepped)"}},
            {"it: is a tail call"}};
    }
    Result<Listeners> find_listeners() override { return listeners; }
    Listeners listeners; // what it says
    Result<Tracepoints> list_tracepoints(const std::string& pattern) override {
        auto done = act("tracepoint " + pattern);
        if (!done)
            return done.error();
        return Tracepoints{{{"syscalls",
                             "sys_enter_read",
                             {{"int", "__syscall_nr"}, {"unsigned int", "fd"}, {"char *", "buf"}},
                             "sys_exit_read",
                             ""},
                            {"syscalls", "sys_exit_read", {{"long", "ret"}}, "", ""}}};
    }
    Result<UsdtProbes> find_usdt_probes(const std::string& pattern) override {
        auto done = act("usdt " + pattern);
        if (!done)
            return done.error();
        if (pattern == "auger:*")
            return marks;
        return UsdtProbes{
            {{"/usr/bin/service", "service", "request__start", "8@%rdi -4@%esi", true, 2},
             {"/usr/lib/libother.so.1", "other", "tick", "", false, 1}},
            {"usdt:other:odd in /usr/lib/libother.so.1: there is no nop at 0x10, where its note "
             "says"}};
    }
    Result<void> set_explained(const ExplainRequest& wanted) override {
        std::string by;
        for (const ProbeId id : wanted.by)
            by += fmt::format(" {}", id.value);
        return act(wanted.active ? fmt::format("explain {} by{}", wanted.probe.value, by)
                                 : "explain off");
    }
    Result<void> set_only(const OnlyInfo& only) override {
        auto done = act("only " + only.text);
        if (done) {
            OnlyInfo in_force = only;
            for (const std::string& line : only.lines)
                in_force.marks.push_back(
                    {uint32_t(1 + in_force.marks.size()), "at " + line, clock_});
            sink_.on_only(in_force);
        }
        return done;
    }
    std::vector<ThreadNow> threads; // what threads_now() finds
    Result<std::vector<ThreadNow>> threads_now() override {
        auto done = act("threads");
        if (!done)
            return done.error();
        return threads;
    }
    std::vector<OpenCall> running; // what open_calls() finds
    Result<std::vector<OpenCall>> open_calls(std::optional<ProbeId> probe) override {
        auto done = act(probe ? fmt::format("open {}", probe->value) : "open");
        if (!done)
            return done.error();
        return running;
    }
    Result<void> set_slow(ProbeId id, const Threshold& slow,
                          const CallConditions& conditions) override {
        auto done = act(fmt::format("slow {}", id.value));
        if (done) {
            probes_[id.value].slow = slow;
            probes_[id.value].conditions = conditions;
            announce(id.value, false);
        }
        return done;
    }
    Result<void> set_split(const SplitInfo& split) override {
        auto done = act(split.active ? fmt::format("split {}", split.probe.value) : "split off");
        if (done) {
            SplitInfo in_force = split;
            in_force.branch_since_ns = in_force.label_since_ns = clock_;
            sink_.on_split(in_force);
        }
        return done;
    }
    Result<void> set_sampling(const SamplingSettings& settings) override {
        std::string line =
            fmt::format("sample {}{}", settings.wall ? "wall " : "", settings.rate_hz);
        if (settings.waits_hz)
            line += fmt::format(" waits {}", settings.waits_hz);
        if (settings.raised_hz)
            line += fmt::format("/{} in {} clauses", settings.raised_hz,
                                settings.raised.clauses.size());
        return act(line);
    }
    Result<void> set_filter(const FilterSpec& filter) override {
        return act(fmt::format("filter {} {} {} {}", filter.pids.size(), filter.tids.size(),
                               filter.comms.size(), filter.cgroups.size()));
    }
    Result<void> set_way_out(WayOut way) override {
        return act(fmt::format("exit {}", static_cast<int>(way)));
    }
    Result<void> record(const std::string& path) override { return act("record " + path); }
    Result<void> record_intervals(const IntervalRecording& wanted) override {
        return act(wanted.folder.empty()
                       ? "intervals off"
                       : fmt::format("intervals {} {} {}", wanted.folder,
                                     wanted.every_ns / 1'000'000'000, wanted.keep));
    }
    IntervalRecordings interval_recordings() const override { return recorded_intervals; }
    Result<void> keep_last(std::chrono::nanoseconds span) override {
        return act(fmt::format("keep {}", span.count() / 1'000'000));
    }
    // The file says what it was asked for.
    Result<void> write_last(const std::string& path) const override {
        auto file = OutputFile::create(path);
        if (!file)
            return file.error();
        file->write("kept");
        return file->commit();
    }
    std::vector<uint64_t> links() const override { return {7, 8}; }
    std::vector<HostReport> hosts() const override { return observed_hosts; }
    std::vector<Capability> capabilities() const override {
        return {{"uprobe_multi links", Capability::State::missing, "kernel is older", "update"}};
    }
    SymbolProgress symbol_progress() const override { return {}; }
    bool keeps_samples_before(uint64_t time_ns) const override {
        return time_ns > has_samples_before;
    }
    UnwindStatus unwind_status() const override { return {}; }
    std::vector<std::string> complete_function(std::string_view prefix, size_t) const override {
        std::vector<std::string> found;
        for (const std::string& name : functions)
            if (name.starts_with(prefix))
                found.push_back(name);
        return found;
    }
    Result<bool> poll(std::chrono::nanoseconds timeout, int) override {
        const uint64_t until = clock_ + static_cast<uint64_t>(timeout.count());
        while (clock_ + round <= std::min(until, ends_at)) {
            for (auto& [id, probe] : probes_)
                play(probe);
            clock_ += round;
        }
        clock_ = std::min(until, std::max(ends_at, clock_));
        sink_.on_time(clock_);
        return clock_ < ends_at;
    }
    Result<void> refresh() override {
        stream_.ledger(clock_, 0, 0, overhead);
        return {};
    }
    void settle_symbols(std::chrono::nanoseconds) override {}

    void notice(const std::string& text) { sink_.on_notice(clock_, text); }
    // As a recording defines what its session did.
    void define(uint32_t id, const std::string& text) {
        probes_[id] = {text, stream_.add_spec(id, text), {}};
        announce(id, false);
    }

  private:
    static constexpr uint64_t ms = 1'000'000;
    static constexpr uint64_t round = 20 * ms;
    struct Probe {
        std::string text;
        SpecId spec;
        Threshold slow;
        CallConditions conditions{};
        bool off = false;
    };

    Result<void> act(const std::string& line) {
        log.push_back(line);
        if (throwing.contains(line) || throwing.contains(line.substr(0, line.find(' '))))
            throw std::runtime_error("planted in \xff " + line);
        if (failing.contains(line) || failing.contains(line.substr(0, line.find(' '))))
            return Error{line.substr(0, line.find(' ')),
                         failing_subject,
                         "refused",
                         "try later",
                         failure_kind,
                         failing_at};
        return {};
    }
    void announce(uint32_t id, bool deleted) {
        const Probe& probe = probes_.at(id);
        sink_.on_probe({ProbeId{id},
                        probe.text,
                        {probe.spec},
                        probe.slow,
                        deleted,
                        probe.conditions,
                        probe.off});
    }
    void play(const Probe& probe) {
        std::vector<uint64_t> durations(calls_a_round - 1, ms);
        durations.push_back(10 * ms);
        stream_.stats(clock_ + round, probe.spec, durations, 0, 0, 0, {{0, 1, 19}});
        const CallKey fast = stream_.call(probe.spec, clock_),
                      slow = stream_.call(probe.spec, clock_ + ms);
        const StackId in_parse = stream_.stack({"main", probe.text, "ns::parse(int)"});
        const StackId in_rebuild = stream_.stack({"main", probe.text, slow_callee});
        stream_.sample(clock_ + 1, 1, in_parse, {fast});
        stream_.end(1, fast, ms, false, 0, stream_.label("small"));
        for (uint64_t i = 0; i < 3; ++i)
            stream_.sample(clock_ + (2 + i) * ms, 1, in_rebuild, {slow});
        stream_.end(1, slow, 10 * ms, false, 3, stream_.label("big (large)"));
        if (second_process != 0) {
            (void)stream_.thread(2, "service", second_process);
            stream_.sample(clock_ + 6 * ms, 2, stream_.stack({"main", "ns::own(int)"}));
        }
        if (probe.slow.kind == Threshold::Kind::none)
            return;
        SlowCallEvent event;
        event.end = {slow.start_ns + 10 * ms, 10 * ms, stream_.thread(1), slow, 3, false, {}, 3};
        event.threshold_ns = 5 * ms;
        event.stack = in_rebuild;
        event.values = {{"fd", "17 (tcp)"}, {"req", "page not present", false}};
        sink_.on_slow_call(event);
    }

    EventSink& sink_;
    SyntheticStream stream_;
    std::map<uint32_t, Probe> probes_;
    TargetSpec target_;
    uint64_t clock_ = 1'000'000'000;
};

class TestOutput final : public Output {
  public:
    void result(std::string_view text) override { results += text; }
    void notice(std::string_view line) override { notices += line; }
    void error(std::string_view text) override { errors += text; }
    bool open() const override { return is_open; }

    std::string results, notices, errors;
    bool is_open = true;
};

class TestInterrupts final : public Interrupts {
  public:
    int wake_fd() const override { return -1; }
    bool take_interrupt() override { return std::exchange(interrupted, false); }
    bool stopping() const override { return stop; }

    bool interrupted = false, stop = false;
};

inline SessionOptions as_json() {
    SessionOptions options;
    options.json = true;
    return options;
}

// A session on a fake, and what it said since last asked.
struct TestSession {
    explicit TestSession(SessionOptions options = {})
        : session(backend, model, output, interrupts, command_table(), fitted(options)) {}

    // Runs a script; everything that it printed, errors behind results.
    std::string run(const std::string& script, const std::string& name = "test.aug") {
        output.results.clear();
        output.errors.clear();
        std::vector<ScriptLine> lines;
        size_t number = 1;
        for (size_t begin = 0; begin <= script.size(); ++number) {
            const size_t end = std::min(script.find('\n', begin), script.size());
            lines.push_back({name, number, script.substr(begin, end - begin)});
            begin = end + 1;
        }
        failure = session.run(lines);
        return output.results + output.errors;
    }
    static SessionOptions fitted(SessionOptions options) {
        options.view.unicode = false;
        options.view.width = 100;
        return options;
    }

    Model model{100'000};
    FakeBackend backend{model};
    TestOutput output;
    TestInterrupts interrupts;
    Session session;
    std::optional<Error::Kind> failure;
};

} // namespace auger
