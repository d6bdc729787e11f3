// SPDX-License-Identifier: GPL-3.0-or-later
// `only` and a rate raised inside a gate: what is kept, what is not, and that both add up.
#include "bpf/wire.h"
#include "tests/kernel/control_group.h"
#include "tests/kernel/program.h"
#include "tests/kernel/service_truth.h"
#include "tests/kernel/session.h"
#include "tests/kernel/source_lines.h"
#include "tests/support/durations.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <utility>

namespace auger::test {
namespace {

constexpr Threshold fixed(uint64_t ns) {
    return {Threshold::Kind::fixed, ns, 0};
}

GateTerm call_term(ProbeId probe, Threshold older) {
    return {GateTerm::Kind::call, probe, older};
}

GateTerm comm_term(const std::string& comm) {
    return {GateTerm::Kind::comm, {}, {}, 0, comm};
}

OnlyInfo only(std::vector<GateTerm> terms, std::vector<Clause> clauses) {
    OnlyInfo info;
    info.text = "a gate";
    info.gate = {std::move(terms), std::move(clauses)};
    return info;
}

std::string comm_of(const Model& model, size_t sample) {
    return model.symbols().thread(model.samples().threads()[sample]).comm;
}

class Gates : public KernelTest {
  protected:
    Gates() : truth_path_("/tmp/auger-test-gates-" + std::to_string(getpid())) {}
    ~Gates() override { unlink(truth_path_.c_str()); }
    void start() {
        service_ = std::make_unique<Program>(
            "demo_service", std::vector<std::string>{"--calls", "2500", "--rate", "1000", "--truth",
                                                     truth_path_, "--wait"});
        service_->wait_ready();
        session_ = std::make_unique<Session>();
        session_->observe(service_->pid());
        handle_ = session_->time("handle_request");
    }
    void finish() {
        service_->go();
        session_->pump_to_end();
        EXPECT_TRUE(service_->account()["ok"].get<bool>());
        EXPECT_EQ(service_->wait_exit(), 0);
        requests_ = read_requests(truth_path_);
        session_->expect_samples_add_up();
    }
    const Model& model() { return session_->model(); }
    // Where a stored sample is, by the service's own record.
    Moment moment(size_t sample) {
        return moment_of(requests_,
                         model().symbols().thread(model().samples().threads()[sample]).tid,
                         model().samples().times()[sample]);
    }
    // How old its request is then, at most and at least: the call begins somewhere between the
    // service's two readings of its clock.
    uint64_t oldest(size_t sample) {
        return model().samples().times()[sample] - moment(sample).request->start;
    }
    uint64_t youngest(size_t sample) {
        const uint64_t time = model().samples().times()[sample],
                       begun = moment(sample).request->inside_start;
        return time > begun ? time - begun : 0;
    }

    std::string truth_path_;
    std::unique_ptr<Program> service_;
    std::unique_ptr<Session> session_;
    ProbeId handle_;
    Requests requests_;
};

constexpr uint64_t clocks_ns = 1'000; // as in moment_of()

TEST_F(Gates, OnlyOldCallsAreSampled) {
    start();
    session_->sample(1'999);
    must(session_->backend().set_only(only({call_term(handle_, fixed(ms))}, {{{0}, {}}})));
    finish();
    ASSERT_GT(model().samples().size(), 50u);
    for (size_t i = 0; i < model().samples().size(); i++) {
        ASSERT_NE(moment(i).place, Moment::Place::between) << i;
        EXPECT_GT(oldest(i) + clocks_ns, ms) << i;
    }
    EXPECT_GT(model().ledger().gated, model().samples().size());
}

TEST_F(Gates, TheOppositeIsEverythingElse) {
    start();
    session_->sample(1'999);
    must(session_->backend().set_only(only({call_term(handle_, fixed(ms))}, {{{}, {0}}})));
    finish();
    ASSERT_GT(model().samples().size(), 50u);
    size_t between = 0, young = 0;
    for (size_t i = 0; i < model().samples().size(); i++) {
        const Moment::Place place = moment(i).place;
        between += place == Moment::Place::between;
        if (place != Moment::Place::inside)
            continue; // at the end of an old request it may be over, by the gate
        young++;
        EXPECT_LE(youngest(i), ms + clocks_ns) << i;
    }
    EXPECT_GT(young, 20u);
    EXPECT_GT(between, 20u);
    EXPECT_GT(model().ledger().gated, 50u);
}

TEST_F(Gates, TermsCombine) {
    start();
    session_->sample(1'999);
    // (worker-0 in a call of handle_request) or a thread named otherwise than a worker
    must(session_->backend().set_only(
        only({comm_term("worker-0"), call_term(handle_, {}), comm_term("client-0")},
             {{{0, 1}, {}}, {{2}, {}}})));
    finish();
    size_t workers = 0, clients = 0;
    for (size_t i = 0; i < model().samples().size(); i++) {
        const std::string comm = comm_of(model(), i);
        EXPECT_TRUE(comm != "worker-0" || moment(i).place != Moment::Place::between) << i;
        workers += comm == "worker-0";
        clients += comm == "client-0";
    }
    EXPECT_EQ(workers + clients, model().samples().size());
    EXPECT_GT(workers, 20u);
    EXPECT_GT(clients, 0u);
}

// Two programs whose threads have the processor alike; of all but one the gate keeps the samples
// back.
class TermsOfThreads : public KernelTest {
  protected:
    TermsOfThreads() {
        for (Program* program : {&one_, &other_})
            program->wait_ready();
        session_.observe(std::vector<pid_t>{one_.pid(), other_.pid()});
    }
    // Samples by process and by thread, of those that pass the term.
    void sample(GateTerm term) {
        must(session_.backend().set_only(only({std::move(term)}, {{{0}, {}}})));
        session_.sample(999);
        EXPECT_TRUE(session_.pump_until([&] {
            return session_.model().samples().size() > 50 && session_.model().ledger().gated > 50;
        }));
        for (Program* program : {&one_, &other_})
            program->signal(SIGTERM);
        session_.pump_to_end();
        const SampleStore& samples = session_.model().samples();
        for (size_t i = 0; i < samples.size(); i++) {
            const ThreadInfo& thread = session_.model().symbols().thread(samples.threads()[i]);
            by_pid_[thread.pid]++;
            by_tid_[thread.tid]++;
        }
    }
    static std::vector<std::string> arguments() {
        return {"--threads", "2", "--load", "20", "--slice-us", "1000"};
    }

    Program one_{"spinner", arguments()}, other_{"spinner", arguments()};
    Session session_;
    std::map<pid_t, size_t> by_pid_, by_tid_;
};

TEST_F(TermsOfThreads, ByProcess) {
    sample({GateTerm::Kind::pid, {}, {}, static_cast<uint64_t>(one_.pid()), ""});
    EXPECT_THAT(by_pid_, testing::ElementsAre(testing::Key(one_.pid())));
    EXPECT_GE(by_tid_.size(), 2u);
}

TEST_F(TermsOfThreads, ByThread) {
    // It names itself when it begins.
    pid_t thread = 0;
    ASSERT_TRUE(session_.pump_until([&] {
        for (const auto& entry :
             std::filesystem::directory_iterator(fmt::format("/proc/{}/task", other_.pid()))) {
            std::string name;
            std::getline(std::ifstream(entry.path() / "comm"), name);
            if (name == "spin-1")
                thread = std::stoi(entry.path().filename());
        }
        return thread != 0;
    }));
    sample({GateTerm::Kind::tid, {}, {}, static_cast<uint64_t>(thread), ""});
    EXPECT_THAT(by_tid_, testing::ElementsAre(testing::Key(thread)));
}

TEST_F(TermsOfThreads, ByControlGroup) {
    ControlGroup group;
    if (!group.made())
        GTEST_SKIP() << "no control groups of version 2 can be made here";
    group.move_here(other_.pid());
    sample({GateTerm::Kind::cgroup, {}, {}, 0, group.name()});
    EXPECT_THAT(by_pid_, testing::ElementsAre(testing::Key(other_.pid())));
    other_.wait_exit(); // or the group stays
}

TEST_F(Gates, EditsWhileCallsRunKeepTheCountsAndTheProbes) {
    start();
    session_->sample(999);
    const auto links = session_->backend().links();
    service_->go();
    for (int i = 0; i < 25; i++) {
        OnlyInfo edit =
            only({call_term(handle_, fixed((i % 5) * ms)), comm_term("worker-1")}, {{{0}, {1}}});
        must(session_->backend().set_only(i % 4 ? edit : OnlyInfo{}));
        const uint64_t before = session_->calls(handle_).entries;
        ASSERT_TRUE(
            session_->pump_until([&] { return session_->calls(handle_).entries > before + 10; }));
        EXPECT_EQ(session_->backend().links(), links);
    }
    must(session_->backend().set_only({}));
    session_->pump_to_end();
    session_->expect_samples_add_up();
    EXPECT_EQ(session_->calls(handle_).returns, service_->account()["calls"].get<uint64_t>());
}

// p90 of the calls themselves: closed until it is known, which takes 5 calls beyond it; then open
// for what is older than it is.
TEST_F(Gates, APercentileOpensWhenItIsKnown) {
    start();
    const uint32_t rate = 1'999;
    session_->sample(rate);
    must(session_->backend().set_only(
        only({call_term(handle_, {Threshold::Kind::percentile, 0, 90})}, {{{0}, {}}})));
    finish();
    ASSERT_GT(model().samples().size(), 30u);
    const PercentileInForce p90(requests_, 0.9, 50, session_->log);
    // Samples are taken out of the durations that it comes from: one in each period, and one more.
    // A histogram tells a value to within 1 %, and one in force is kept until it is off by the
    // hysteresis.
    const double period = 1e9 / rate, gap = static_cast<double>(model().ledger().sample_gap_ns);
    const auto at_least = [&](double known) {
        return (known - (known / period + 1) * gap) / 1.01 / (1 + ThresholdFollower::hysteresis);
    };
    std::vector<double> shares; // of the age, that it has to be at least
    for (size_t i = 0; i < model().samples().size(); i++) {
        ASSERT_NE(moment(i).place, Moment::Place::between) << i;
        const auto bounds = p90.at(model().samples().times()[i]);
        ASSERT_TRUE(bounds) << i;
        const double age = static_cast<double>(oldest(i) + clocks_ns);
        EXPECT_GE(age, at_least(bounds->least)) << i;
        shares.push_back(at_least(bounds->least) / age);
    }
    fmt::print("p90 {} ns in the end; the youngest sample has {:.3f} of the age that it needs; a "
               "sample takes {} ns\n",
               p90.last().least, 1 / std::ranges::max(shares), gap);
}

// What the children that have ended took of the CPUs.
double ended_cpu_ns() {
    rusage usage{};
    EXPECT_EQ(getrusage(RUSAGE_CHILDREN, &usage), 0);
    auto ns = [](const timeval& t) {
        return 1e9 * static_cast<double>(t.tv_sec) + 1e3 * static_cast<double>(t.tv_usec);
    };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
}

double cpu_ns(pid_t pid) {
    clockid_t clock{};
    timespec time{};
    EXPECT_EQ(clock_getcpuclockid(pid, &clock), 0);
    EXPECT_EQ(clock_gettime(clock, &time), 0);
    return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

TEST_F(Gates, ARaisedRateAppliesInsideAndTheBaseRateOutside) {
    start();
    SamplingSettings settings{199, false};
    settings.raised_hz = 3'980;
    settings.raised = {{call_term(handle_, fixed(ms))}, {{{0}, {}}}};
    must(session_->backend().set_sampling(settings));
    const double before = ended_cpu_ns(), until_now = cpu_ns(service_->pid());
    finish();
    const double on_cpu = ended_cpu_ns() - before - until_now; // by the kernel's account of it
    const auto& log = session_->log.samples;
    ASSERT_EQ(log.size(), model().samples().size());
    const uint64_t inside_weight = 1'000'000'000 / 3'980, outside_weight = 20 * inside_weight;
    size_t inside = 0, outside = 0, with_weight_of_outside = 0;
    for (size_t i = 0; i < log.size(); i++) {
        const auto weight = static_cast<double>(log[i].weight_ns);
        with_weight_of_outside += log[i].weight_ns > 10 * inside_weight;
        const Moment at = moment(i);
        if (at.place == Moment::Place::inside && youngest(i) > ms + clocks_ns) {
            inside++;
            EXPECT_NEAR(weight, static_cast<double>(inside_weight), 40) << i;
        } else if (at.place == Moment::Place::between ||
                   (at.place == Moment::Place::inside && oldest(i) + clocks_ns < ms)) {
            outside++;
            EXPECT_NEAR(weight, static_cast<double>(outside_weight), 40) << i;
        }
    }
    EXPECT_GT(inside, 100u);
    EXPECT_GT(outside, 10u);
    // Both in one unit: together they are the time on the CPU. Their number outside is that of
    // ticks in random stretches of it, so it has a standard error of its square root at most; four
    // of these, and 4 % for what the program did before its first and after its last sampled tick.
    const double all =
        std::accumulate(log.begin(), log.end(), 0.0, [](double sum, const SampleEvent& sample) {
            return sum + static_cast<double>(sample.weight_ns);
        });
    EXPECT_NEAR(all, on_cpu,
                0.04 * on_cpu + 4 * std::sqrt(static_cast<double>(with_weight_of_outside)) *
                                    static_cast<double>(outside_weight));
}

// A call as the program saw it.
struct Span {
    uint64_t start, end;
};

TEST_F(Gates, ASlowCallIsJudgedWithTheCallsAroundIt) {
    Program program("drilldown", {"--calls", "300", "--log", truth_path_, "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId handle = session.time("handle");
    const ProbeId extra =
        session.time("recv@" + marked_line("drilldown.c", "RECV extra"), fixed(1));
    // The server sleeps for 4 ms before late answers; nothing else takes nearly as long.
    must(session.backend().set_only(only({call_term(handle, fixed(3 * ms))}, {{{0}, {}}})));
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    EXPECT_EQ(session.calls(extra).returns, account["recv_extra"].get<uint64_t>());
    EXPECT_EQ(session.log.slow_calls.size() + session.model().ledger().gated_slow_calls +
                  session.lost("slow calls: rate limit"),
              account["recv_extra"].get<uint64_t>());
    EXPECT_EQ(session.lost("slow calls: rate limit"), 0u);

    // By the program's log: each extra recv, and the handle around it, which begins before its
    // first statement (describe) and after the program looked at its clock.
    struct Extra {
        Span recv, handle;
        uint64_t inside;
        bool traced = false;
    };
    std::map<uint32_t, std::vector<Extra>> extras; // by thread
    std::map<uint32_t, std::vector<Span>> handles, first_statements;
    std::ifstream file(truth_path_);
    for (std::string line; std::getline(file, line);) {
        const auto one = nlohmann::json::parse(line);
        const uint32_t tid = one["tid"];
        const Span span{one["start"], one["end"]};
        if (one["function"] == "handle")
            handles[tid].push_back(span);
        else if (one["function"] == "describe")
            first_statements[tid].push_back(span);
        else if (one["function"] == "recv" && one["site"] == "extra")
            extras[tid].push_back({span, {}, 0});
    }
    auto around = [](const std::vector<Span>& spans, uint64_t time) { // the last that began before
        auto after = std::upper_bound(spans.begin(), spans.end(), time,
                                      [](uint64_t t, const Span& s) { return t < s.start; });
        return *std::prev(after);
    };
    size_t logged = 0;
    for (auto& [tid, of_thread] : extras)
        for (Extra& one : of_thread) {
            one.handle = around(handles[tid], one.recv.start);
            one.inside = around(first_statements[tid], one.recv.start).start;
            logged++;
        }
    ASSERT_EQ(logged, account["recv_extra"].get<uint64_t>());
    for (const StreamLog::SlowCall& call : session.log.slow_calls) {
        ASSERT_EQ(call.enclosing.size(), 1u);
        EXPECT_EQ(session.model().specs()[call.enclosing[0].spec.index()].probe, handle);
        auto& of_thread = extras[session.model().symbols().thread(call.end.thread).tid];
        const auto known = std::find_if(of_thread.begin(), of_thread.end(), [&](const Extra& one) {
            return one.recv.start <= call.end.call.start_ns && call.end.time_ns <= one.recv.end;
        });
        ASSERT_NE(known, of_thread.end());
        EXPECT_FALSE(std::exchange(known->traced, true)) << "twice";
        EXPECT_GT(known->recv.end - known->handle.start, 3 * ms); // it may have been old enough
    }
    size_t surely = 0;
    for (const auto& [tid, of_thread] : extras)
        for (const Extra& one : of_thread)
            if (one.recv.start - one.inside > 3 * ms) { // it was
                surely++;
                EXPECT_TRUE(one.traced) << "of thread " << tid << " at " << one.recv.start;
            }
    EXPECT_GE(surely, 5u);
}

TEST_F(Gates, BadOnesAreRefusedAndChangeNothing) {
    start();
    must(session_->backend().set_only(only({comm_term("worker-0")}, {{{0}, {}}})));
    EXPECT_FALSE(session_->backend().set_only(only({call_term(ProbeId{99}, {})}, {{{0}, {}}})));
    EXPECT_FALSE(session_->backend().set_only(
        only({comm_term("a name of more than 15 bytes")}, {{{0}, {}}})));
    EXPECT_FALSE(session_->backend().set_only(
        only(std::vector<GateTerm>(WIRE_MAX_GATE_TERMS + 1, comm_term("a")), {{{0}, {}}})));
    session_->sample(999);
    finish();
    for (size_t i = 0; i < model().samples().size(); i++)
        EXPECT_EQ(comm_of(model(), i), "worker-0");
    EXPECT_GT(model().samples().size(), 10u);
}

} // namespace
} // namespace auger::test
