// SPDX-License-Identifier: GPL-3.0-or-later
// Machines for tests of who observes several: each is a process of its own that serves a console
// over a pair of sockets, with a backend whose calls are known. So it can be stopped and killed as
// a real one.
#pragma once

#include "loader/base/read_clock.h"
#include "loader/remote/agent.h"
#include "loader/remote/agent_process.h"
#include "loader/stats/histogram.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <vector>

namespace auger::test {

// Where two machines wait for each other; in memory that their processes share.
struct Meeting {
    std::atomic<bool> editing = false; // one makes the edit that it waits in
    std::atomic<int> given = 0;        // edits that the other one has made

    static Meeting& make() {
        void* const shared = ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
            throw std::bad_alloc();
        return *new (shared) Meeting;
    }
    // At most so long: one that never comes is what the test may be about.
    template <typename Holds>
    static void wait(const Holds& holds, std::chrono::milliseconds longest) {
        const auto end = std::chrono::steady_clock::now() + longest;
        while (!holds() && std::chrono::steady_clock::now() < end)
            ::usleep(1000);
    }
};

// What goes wrong at which edit; they are counted from 0. -1: never.
struct Mishap {
    int calls_a_round = 1;    // which is no mishap
    size_t threads = 1;       // neither
    size_t stack_depth = 1;   // of each of them
    bool leaves_open = false; // the first probe's first call never ends
    int refused_at = -1;
    bool says_before = false; // that it would refuse any target and probe
    const char* lacks = "";   // a function that its programs do not have
    // When it is asked that: at which of the questions.
    int dies_asked = -1, stops_asked = -1;
    int busy_at = -1;     // until the machines that meet have made `waits_for` edits, however long
    int dies_before = -1; // anything is changed
    int dies_after = -1;  // it is, and before that is said
    // Of two machines that meet: one waits in an edit for edits of the other one, and that one
    // begins, or makes its first edit, when it does.
    Meeting* meeting = nullptr;
    int waits_at = -1;
    int waits_for = 0;
    bool opens_late = false, edits_late = false;
};

// Of machine `index` the n-th call of a probe takes so long.
constexpr uint64_t call_duration(uint32_t index, uint64_t n) {
    return (1 + (n * 7919 + index * 31) % 1000) * 1000 * (index + 1);
}
constexpr uint64_t slow_duration = 1'200'000; // of every machine some are beyond it

// Each attached probe has a call about every millisecond, which holds a sample. links() tells how
// many there were: machine << 48 | slow ones << 24 | all.
class KnownMachine final : public Backend {
  public:
    KnownMachine(uint32_t index, const Mishap& mishap, EventSink& sink)
        : index_(index), mishap_(mishap), sink_(sink) {
        sink_.on_module(ModuleId{0}, {ModuleKind::file, "/usr/bin/service", "abcd"});
        for (uint32_t i = 0; i < 2; i++) {
            sink_.on_location(LocationId{i}, {ModuleId{0}, 0x1000 + i, false});
            const Frame frame{i ? "rebuild" : "handle", "", 0, false};
            sink_.on_frames(LocationId{i}, {&frame, 1});
            sink_.on_stack(StackId{i}, std::array{LocationId{i}});
        }
        sink_.on_thread(ThreadId{0}, {100, 100, "service"});
    }
    bool replaying() const override { return false; }
    uint64_t now_ns() const override { return read_clock(CLOCK_MONOTONIC); }

    Result<void> set_target(const TargetSpec& spec) override {
        return edit([&] { settings_["target"] = spec.name; });
    }
    Result<void> check_target(const TargetSpec& spec) override { return check(spec.name); }
    Result<void> check_probe(const ProbeRequest& request) override { return check(request.text); }
    TargetStatus target_status() const override {
        return {{}, {{100, "service", "www", true, "", ""}}};
    }
    Result<void> start_command() override { return {}; }
    Result<ProbeReport> add_probe(const ProbeRequest& request) override {
        if (settings_.contains(probe_key(request.id)) || !ids_.insert(request.id).second)
            return Error{"time", request.text, "an id came twice", ""};
        if (request.text == mishap_.lacks)
            return Error{"time", request.text, "no such function", ""};
        const SpecId spec{specs_};
        auto done = edit([&] {
            settings_[probe_key(request.id)] = request.text;
            settings_[probe_key(request.id) + " slow"] = text_of(request.slow);
            sink_.on_spec(spec, {request.id, request.text, "/usr/bin/service", 0x1000, {}});
            sink_.on_probe({request.id, request.text, {spec}, request.slow, false});
            probes_[request.id] = {request.text, spec};
            if (mishap_.leaves_open && specs_ == 0) {
                StatsEvent open;
                open.time_ns = now_ns();
                open.spec = spec;
                open.entries = 1;
                open.open = 1;
                sink_.on_stats(open);
            }
            specs_++;
        });
        if (!done)
            return done.error();
        ProbeReport report;
        report.places = {{spec, request.text, "/usr/bin/service", 0x1000, "entry+ret", ""}};
        return report;
    }
    Result<ProbePlan> plan_probe(const std::string&) override { return ProbePlan{}; }
    Result<void> remove_probe(ProbeId id) override {
        if (auto known = find_probe(id); !known)
            return known;
        return edit([&] {
            for (const char* what : {"", " slow", " off"})
                settings_.erase(probe_key(id) + what);
            sink_.on_probe({id, probes_[id].text, {probes_[id].spec}, {}, true});
            probes_.erase(id);
        });
    }
    Result<void> set_attached(ProbeId id, bool attached) override {
        if (auto known = find_probe(id); !known)
            return known;
        return edit([&] {
            settings_[probe_key(id) + " off"] = attached ? "" : "off";
            probes_[id].attached = attached;
        });
    }
    Result<CallSites> find_call_sites(const std::string&) override { return CallSites{}; }
    Result<UsdtProbes> find_usdt_probes(const std::string&) override { return UsdtProbes{}; }
    Result<Listeners> find_listeners() override { return Listeners{}; }
    Result<Tracepoints> list_tracepoints(const std::string&) override { return Tracepoints{}; }
    Result<void> set_slow(ProbeId id, const Threshold& slow, const CallConditions&) override {
        if (auto known = find_probe(id); !known)
            return known;
        return edit([&] { settings_[probe_key(id) + " slow"] = text_of(slow); });
    }
    Result<void> set_split(const SplitInfo& split) override {
        if (auto known = find_probe(split.probe); split.active && !known)
            return known;
        return edit([&] {
            settings_["split"] = split.active ? std::to_string(split.probe.value) : "";
            sink_.on_split(split);
        });
    }
    Result<void> set_explained(const ExplainRequest&) override { return {}; }
    Result<void> set_only(const OnlyInfo& only) override {
        for (const GateTerm& term : only.gate.terms)
            if (auto known = find_probe(term.probe); !known)
                return known;
        return edit([&] { settings_["only"] = only.text; });
    }
    Result<std::vector<OpenCall>> open_calls(std::optional<ProbeId>) override {
        std::vector<OpenCall> open;
        for (const auto& [id, probe] : probes_) {
            OpenCall call;
            call.probe = id;
            call.spec = probe.spec;
            call.age_ns = 1000 * (index_ + 1);
            call.thread = {100, 100, "service"};
            call.stack = {LocationId{1}};
            open.push_back(call);
        }
        return open;
    }
    Result<std::vector<ThreadNow>> threads_now() override {
        ThreadNow thread;
        thread.thread = {100, 100, "service"};
        thread.wait = "futex";
        thread.stack.assign(mishap_.stack_depth, LocationId{1});
        return std::vector(mishap_.threads, thread);
    }
    Result<void> set_sampling(const SamplingSettings& sampling) override {
        return edit(
            [&] { settings_["rate"] = sampling.rate_hz ? std::to_string(sampling.rate_hz) : ""; });
    }
    Result<void> set_filter(const FilterSpec& filter) override {
        return edit([&] { settings_["filter"] = filter.comms.empty() ? "" : filter.comms[0]; });
    }
    Result<void> set_way_out(WayOut) override { return {}; }
    void add_notice(const std::string&) override {}
    Result<void> record(const std::string&) override { return {}; }
    Result<void> record_intervals(const IntervalRecording&) override { return {}; }
    Result<void> keep_last(std::chrono::nanoseconds) override { return {}; }
    Result<void> write_last(const std::string&) const override { return {}; }
    std::vector<uint64_t> links() const override {
        return {uint64_t{index_} << 48 | slow_ << 24 | calls_};
    }
    std::vector<Capability> capabilities() const override { return {}; }
    SymbolProgress symbol_progress() const override { return {}; }
    UnwindStatus unwind_status() const override { return {}; }
    // What is in force, in one text.
    std::vector<std::string> complete_function(std::string_view, size_t) const override {
        std::string text;
        for (const auto& [name, value] : settings_)
            if (!value.empty())
                text += name + "=" + value + " ";
        return {text};
    }
    Result<bool> poll(std::chrono::nanoseconds timeout, int wake_fd) override {
        pollfd wake{wake_fd, POLLIN, 0};
        ::poll(&wake, 1, std::min(1, static_cast<int>(timeout.count() / 1'000'000)));
        make_calls();
        return true;
    }
    Result<void> refresh() override {
        make_calls();
        return {};
    }
    void settle_symbols(std::chrono::nanoseconds) override {}

  private:
    struct Probe {
        std::string text;
        SpecId spec;
        bool attached = true;
        uint64_t calls = 0;
    };
    static std::string text_of(const Threshold& slow) {
        return slow.kind == Threshold::Kind::none ? "" : std::to_string(slow.fixed_ns);
    }
    static std::string probe_key(ProbeId id) { return fmt::format("probe {}", id.value); }

    Result<void> find_probe(ProbeId id) const {
        if (probes_.contains(id))
            return {};
        return Error{"edit", std::to_string(id.value), "no such probe", ""};
    }
    Result<void> check(const std::string& subject) {
        const int number = checks_++;
        if (number == mishap_.dies_asked)
            ::raise(SIGKILL);
        if (number == mishap_.stops_asked)
            ::raise(SIGSTOP);
        if (mishap_.says_before)
            return Error{"edit", subject, "it would be refused", ""};
        return {};
    }
    Result<void> edit(const std::function<void()>& make) {
        const int number = edits_++;
        if (number == mishap_.dies_before)
            ::raise(SIGKILL);
        if (number == mishap_.waits_at) {
            mishap_.meeting->editing = true;
            Meeting::wait([&] { return mishap_.meeting->given >= mishap_.waits_for; },
                          std::chrono::milliseconds(500));
            ::usleep(50'000); // until the console knows it
        }
        if (number == mishap_.busy_at)
            Meeting::wait([&] { return mishap_.meeting->given >= mishap_.waits_for; },
                          std::chrono::minutes(1));
        if (mishap_.edits_late && number == 0)
            Meeting::wait([&] { return mishap_.meeting->editing.load(); }, std::chrono::minutes(1));
        if (number == mishap_.refused_at)
            return Error{"edit", std::to_string(number), "it is refused", ""};
        make();
        if (number == mishap_.dies_after)
            ::raise(SIGKILL);
        if (mishap_.opens_late || mishap_.edits_late)
            mishap_.meeting->given++;
        return {};
    }
    void make_calls() {
        const uint64_t now = now_ns();
        for (auto& [id, probe] : probes_) {
            for (int i = 0; i < mishap_.calls_a_round && probe.attached; i++)
                make_call(probe, now);
        }
        LedgerEvent ledger;
        ledger.time_ns = now;
        ledger.ticks = ledger.samples = calls_;
        sink_.on_ledger(ledger);
        sink_.on_time(now);
    }
    void make_call(Probe& probe, uint64_t now) {
        const uint64_t duration = call_duration(index_, probe.calls++);
        const CallKey call{now - duration, static_cast<uint32_t>(calls_), probe.spec};
        const bool slow = duration > slow_duration;
        calls_++;
        slow_ += slow;
        sink_.on_sample(
            {now - duration / 2, 1000, ThreadId{0}, StackId{slow}, SampleKind::cpu, 0, {&call, 1}});
        sink_.on_call_end({now, duration, ThreadId{0}, call, 1});
        StatsEvent stats;
        stats.time_ns = now;
        stats.spec = probe.spec;
        stats.entries = stats.returns = 1;
        stats.sum_ns = duration;
        stats.min_ns = 1;
        stats.max_ns = UINT32_MAX;
        stats.buckets = {{bucket_of(duration), 1}};
        sink_.on_stats(stats);
    }

    const uint32_t index_;
    const Mishap mishap_;
    EventSink& sink_;
    int edits_ = 0, checks_ = 0;
    std::map<std::string, std::string> settings_;
    std::map<ProbeId, Probe> probes_;
    std::set<ProbeId> ids_;
    uint32_t specs_ = 0;
    uint64_t calls_ = 0, slow_ = 0;
};

// A process at the other end of sockets that runs `serve`.
class ForkedPeer {
  public:
    using Serve = std::function<void(int socket)>;

    ~ForkedPeer() { end(); }
    Result<remote::AgentPipe> start(const Serve& serve) {
        end();
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            return system_error("make", "sockets");
        UniqueFd ours(ends[0]), theirs(ends[1]);
        pid = ::fork();
        if (pid == 0) {
            ::signal(SIGPIPE, SIG_IGN);
            // Else it would keep others' sockets open.
            for (int fd = 3; fd < 256; fd++)
                if (fd != theirs.get())
                    ::close(fd);
            serve(theirs.get());
            ::_exit(0);
        }
        ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
        UniqueFd from = duplicate(ours.get());
        return remote::AgentPipe{std::move(ours), std::move(from), {}, {}};
    }
    void signal(int number) const { ::kill(pid, number); }
    pid_t pid = 0;

  private:
    void end() {
        if (pid <= 0)
            return;
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        pid = 0;
    }
};

// One of these for each machine; the mishap is that of the next agent on it.
struct ObservedHost {
    explicit ObservedHost(uint32_t number, Mishap first = {}) : index(number), mishap(first) {}

    remote::ConnectAgent connect() {
        return [this] {
            const Mishap now = std::exchange(mishap, {});
            return peer.start([this, now](int socket) {
                (void)remote::serve_agent(
                    "auger test",
                    [&](const remote::OpenRequest&,
                        EventSink& sink) -> Result<std::unique_ptr<Backend>> {
                        if (now.opens_late)
                            Meeting::wait([&] { return now.meeting->editing.load(); },
                                          std::chrono::minutes(1));
                        return std::unique_ptr<Backend>(
                            std::make_unique<KnownMachine>(index, now, sink));
                    },
                    socket, socket);
            });
        };
    }

    uint32_t index;
    Mishap mishap;
    ForkedPeer peer;
};

} // namespace auger::test
