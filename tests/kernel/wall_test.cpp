// SPDX-License-Identifier: GPL-3.0-or-later
// Wall-clock time: what calls were running, blocked and waiting for a CPU, against the kernel's own
// account of the threads, which the program reads for itself.
#include "loader/base/quantile.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

namespace auger::test {
namespace {

using Sums = std::array<double, sample_kinds>; // ns, by SampleKind

double& of(Sums& sums, SampleKind kind) {
    return sums[static_cast<size_t>(kind)];
}
double total(const Sums& sums) {
    return sums[0] + sums[1] + sums[2];
}

class Wall : public KernelTest {
  protected:
    const std::vector<std::string> kinds = {"sleeps", "spins", "locks", "reads", "starves"};

    // Weights of samples in calls, by thread name.
    static std::map<std::string, Sums> sums_in_calls(Session& session) {
        std::map<std::string, Sums> sums;
        const SampleStore& samples = session.model().samples();
        for (size_t i = 0; i < samples.size(); i++) {
            if (samples.calls()[i] == no_call)
                continue;
            const auto& thread = session.model().symbols().thread(samples.threads()[i]);
            of(sums[thread.comm], samples.kinds()[i]) += static_cast<double>(samples.weights()[i]);
        }
        return sums;
    }
};

// The program's truth, of all calls of a kind, ns.
struct Truth {
    double wall, cpu, runnable;
    double gap; // between its readings of the kernel's accounts and of the clock, at most
    double calls, waits, preempted;
    double slept; // of it, of `locks`, in sleep, by the clock
    double blocked() const { return wall - cpu - runnable; }
    double of(SampleKind kind) const {
        return kind == SampleKind::cpu ? cpu : kind == SampleKind::blocked ? blocked() : runnable;
    }
};
Truth truth_of(const nlohmann::json& account, const std::string& kind) {
    const auto& one = account.at("kinds").at(kind);
    return {one["wall_ns"], one["cpu_ns"], one["runnable_ns"], one["gap_ns"],
            one["calls"],   one["waits"],  one["preempted"],   one["slept_ns"]};
}

// What the host took of all CPUs so far, as the kernel accounts for it: in ticks of its own, which
// are 10 ms here and of which each CPU may have a part of one more.
double stolen_ns() {
    std::ifstream stat("/proc/stat");
    std::string cpu;
    double user = 0, nice = 0, system = 0, idle = 0, io = 0, irq = 0, soft_irq = 0, steal = 0;
    stat >> cpu >> user >> nice >> system >> idle >> io >> irq >> soft_irq >> steal;
    return steal * 1e9 / static_cast<double>(sysconf(_SC_CLK_TCK));
}
double stolen_since_ns(double before) {
    return stolen_ns() - before +
           1e9 / static_cast<double>(sysconf(_SC_CLK_TCK)) *
               static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
}

// How far what auger says of calls, from their entries to their exits (`inside`, in all), may be
// from the program's account, ns:
// - what lies between the program's readings of the kernel's accounts and of the clock, and between
//   that and the probes, is in one of them only, whatever the thread did then;
// - what the host took from a thread that ran is in no account of the kernel's, so that it looks
//   like blocked;
// - the kernel and auger look at the clock within one and the same step of the scheduler, some
//   instructions apart: when a thread goes, when it is woken (by another CPU, auger when that
//   begins to and the kernel when it is done) and when it comes back. Of a wait that is 2 to 8 us
//   here, of a preempted thread, whose two steps are alike, hardly any: 20 and 2 at most.
double apart_ns(const Truth& truth, double inside, double stolen) {
    return truth.gap + truth.wall - inside + stolen + 20e3 * truth.waits + 2e3 * truth.preempted;
}

// How far the sampled time may be from that, ns. Of each period of a clock one moment is looked at,
// at random: so the number of ticks in a kind of time has the variance of a binomial one at most,
// n p (1 - p), since that is the most where the share is p everywhere. Where a call begins and
// where it ends, a period is cut in two, of which either may have the tick: a variance of 1/4 each,
// of the clock of running and of that of waiting. Four standard errors.
double chance_ns(const Truth& truth, double of_kind, double hz) {
    const double period = 1e9 / hz, ticks = truth.wall / period,
                 share = std::clamp(of_kind / truth.wall, 0.0, 1.0);
    return 4 * period * std::sqrt(ticks * share * (1 - share) + truth.calls);
}

TEST_F(Wall, SharesAreThoseOfTheKernelsOwnAccount) {
    Program program("waits", {"--calls", "150", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    for (const std::string& kind : kinds)
        session.time(kind, {Threshold::Kind::fixed, 0, 0});
    constexpr uint32_t rate_hz = 999;
    must(session.backend().set_sampling({rate_hz, true}));
    const double stolen_before = stolen_ns();
    program.go();
    session.pump_to_end();
    nlohmann::json account = program.account();
    ASSERT_TRUE(account["ok"].get<bool>()) << account;

    const double stolen = stolen_since_ns(stolen_before);

    // Calls say what their longest wait was for.
    for (const SlowCall& call : session.model().slow_calls()) {
        const std::string& comm = session.model().symbols().thread(call.end.thread).comm;
        if (comm == "reads" && call.longest_wait.blocked_ns) {
            EXPECT_THAT(call.longest_wait.what,
                        testing::MatchesRegex("read\\([0-9]+\\)( pipe:.*)?"));
        }
        if (comm == "sleeps") {
            EXPECT_EQ(call.longest_wait.what, "clock_nanosleep");
            EXPECT_GT(call.longest_wait.blocked_ns, 1'000'000u);
        }
        EXPECT_LE(call.longest_wait.blocked_ns, call.end.waits ? call.end.waits->blocked_ns : 0);
    }

    // Every call says exactly what it waited, ticks or none.
    std::map<std::string, Sums> exact;
    std::map<std::string, uint64_t> calls;
    std::map<std::string, double> inside;               // from entries to exits
    std::map<std::string, double> taken;                // out of the durations
    std::vector<std::pair<std::string, double>> longer; // they waited than that; each call
    for (const SlowCall& call : session.model().slow_calls()) {
        ASSERT_TRUE(call.end.waits);
        const std::string& comm = session.model().symbols().thread(call.end.thread).comm;
        calls[comm]++;
        Sums& sum = exact[comm];
        of(sum, SampleKind::blocked) += static_cast<double>(call.end.waits->blocked_ns);
        of(sum, SampleKind::runnable) += static_cast<double>(call.end.waits->runnable_ns);
        const uint64_t took = call.end.time_ns - call.end.call.start_ns;
        inside[comm] += static_cast<double>(took);
        taken[comm] += static_cast<double>(took - call.end.duration_ns);
        longer.push_back(
            {comm, static_cast<double>(call.end.waits->blocked_ns + call.end.waits->runnable_ns) -
                       static_cast<double>(took)});
    }
    // No call waited for longer than it took, but for what it lost the CPU for just where a probe
    // is at work, which is outside of it.
    for (const auto& [kind, more] : longer)
        EXPECT_LE(more, truth_of(account, kind).wall - inside[kind]) << kind;
    auto sums = sums_in_calls(session);
    for (const std::string& kind : kinds) {
        SCOPED_TRACE(kind + " " + account["kinds"][kind].dump());
        const Truth truth = truth_of(account, kind);
        EXPECT_EQ(calls[kind], account["kinds"][kind]["calls"].get<uint64_t>());
        const double apart = apart_ns(truth, inside[kind], stolen);
        fmt::print("{}: of {:.0f} ms, {:.2f} % apart ({:.2f} gap, {:.2f} outside, {:.2f} stolen)\n",
                   kind, truth.wall / 1e6, 100 * apart / truth.wall, 100 * truth.gap / truth.wall,
                   100 - 100 * inside[kind] / truth.wall, 100 * stolen / truth.wall);
        const double blocked = of(exact[kind], SampleKind::blocked) - truth.blocked(),
                     runnable = of(exact[kind], SampleKind::runnable) - truth.runnable;
        fmt::print("  blocked {:.2f} %, off by {:.3f}; runnable {:.2f} %, off by {:.3f}, {:.3f} "
                   "taken out; {} waits, {} preempted\n",
                   100 * truth.blocked() / truth.wall, 100 * blocked / truth.wall,
                   100 * truth.runnable / truth.wall, 100 * runnable / truth.wall,
                   100 * taken[kind] / truth.wall, truth.waits, truth.preempted);
        EXPECT_LE(std::abs(blocked), apart);
        // What auger did when a thread went was in the way of one that would have run, so that it
        // is taken out, of how long it was runnable like of the call's duration.
        EXPECT_LE(runnable, apart);
        EXPECT_GE(runnable, -apart - taken[kind]);
        // Ticks say the same, within what chance makes of them.
        Sums& sampled = sums[kind];
        fmt::print("  sampled {:.4f} of it (+-{:.4f})", total(sampled) / truth.wall,
                   (apart + chance_ns(truth, 0, rate_hz)) / truth.wall);
        EXPECT_NEAR(total(sampled), truth.wall, apart + chance_ns(truth, 0, rate_hz));
        for (const SampleKind one : {SampleKind::cpu, SampleKind::blocked, SampleKind::runnable}) {
            const double bound = apart + chance_ns(truth, truth.of(one), rate_hz);
            fmt::print(", {:.4f} for {:.4f} (+-{:.4f})", of(sampled, one) / truth.wall,
                       truth.of(one) / truth.wall, bound / truth.wall);
            EXPECT_NEAR(of(sampled, one), truth.of(one), bound);
        }
        fmt::print("\n");
        // Each way of spending time is there, so that none of it would be too far off.
        const std::map<std::string, SampleKind> ways = {{"sleeps", SampleKind::blocked},
                                                        {"spins", SampleKind::cpu},
                                                        {"locks", SampleKind::blocked},
                                                        {"reads", SampleKind::blocked},
                                                        {"starves", SampleKind::runnable}};
        const double of_way = truth.of(ways.at(kind));
        EXPECT_GT(of_way, apart + chance_ns(truth, of_way, rate_hz));
    }
}

// The stack is the one with which the thread began to wait, and begins with what it waits in.
// What each thread waits for, and from where: as much as it was blocked by the kernel's own
// account.
TEST_F(Wall, AWaitShowsItsSystemCallAndStack) {
    Program program("waits", {"--calls", "100", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    constexpr uint32_t rate_hz = 999;
    must(session.backend().set_sampling({rate_hz, true}));
    const double stolen_before = stolen_ns();
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    ASSERT_TRUE(account["ok"].get<bool>()) << account;
    const double stolen = stolen_since_ns(stolen_before);
    session.backend().settle_symbols(std::chrono::seconds(10));

    // Of a thread's name and a system call: in which of the program's functions, innermost first.
    const std::map<std::pair<std::string, std::string>, std::vector<std::string>> stacks = {
        {{"sleeps", "[clock_nanosleep]"}, {"truth_sleep_us", "sleeps", "work"}},
        {{"locks", "[clock_nanosleep]"}, {"truth_sleep_us", "locks", "work"}},
        {{"locks", "[futex]"}, {"locks", "work"}},
        {{"reads", "[read]"}, {"reads", "work"}}};
    const std::set<std::string> functions = {"truth_sleep_us", "sleeps", "locks", "reads",
                                             "work",           "feeder", "hold",  "main"};
    std::map<std::pair<std::string, std::string>, double> found;
    const SampleStore& samples = session.model().samples();
    for (size_t i = 0; i < samples.size(); i++) {
        if (samples.kinds()[i] != SampleKind::blocked)
            continue;
        auto names = session.stack_names(samples.stacks()[i]);
        const std::pair wait{session.model().symbols().thread(samples.threads()[i]).comm,
                             names.front()};
        const auto expected = stacks.find(wait);
        if (expected == stacks.end())
            continue;
        found[wait] += static_cast<double>(samples.weights()[i]);
        const std::string whole = testing::PrintToString(names);
        std::erase_if(names, [&](const std::string& name) { return !functions.contains(name); });
        EXPECT_EQ(names, expected->second) << whole;
    }
    const auto expect_between = [&](const std::pair<std::string, std::string>& wait, double least,
                                    double most) {
        const Truth truth = truth_of(account, wait.first);
        const double off = apart_ns(truth, truth.wall, stolen) + chance_ns(truth, least, rate_hz);
        fmt::print("{} {}: {:.1f} ms, of {:.1f} to {:.1f}, by +-{:.1f}\n", wait.first, wait.second,
                   found[wait] / 1e6, least / 1e6, most / 1e6, off / 1e6);
        EXPECT_GE(found[wait], least - off);
        EXPECT_LE(found[wait], most + off);
    };
    for (const auto& [comm, call] :
         {std::pair{"sleeps", "[clock_nanosleep]"}, {"reads", "[read]"}}) {
        const double blocked = truth_of(account, comm).blocked();
        expect_between({comm, call}, blocked, blocked);
    }
    // By the clock it slept so long, of which it may have been runnable, and ran, for a part.
    const Truth locks = truth_of(account, "locks");
    const double not_blocked = locks.cpu + locks.runnable;
    expect_between({"locks", "[clock_nanosleep]"}, locks.slept - not_blocked, locks.slept);
    expect_between({"locks", "[futex]"}, locks.blocked() - locks.slept,
                   locks.blocked() - locks.slept + not_blocked);
}

// Switching it on and off again neither invents a wait nor touches an attachment.
TEST_F(Wall, WaitsThatWereNotWatchedAreNotCounted) {
    Program program("waits", {"--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ProbeId probe = session.time("sleeps", {Threshold::Kind::fixed, 0, 0});
    must(session.backend().set_sampling({499, false}));
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).returns >= 5; }));
    EXPECT_EQ(session.model().ledger().waits, 0u);
    for (const SlowCall& call : session.model().slow_calls())
        EXPECT_FALSE(call.end.waits);
    auto cpu_links = session.backend().links();

    for (int round = 0; round < 5; round++) {
        must(session.backend().set_sampling({499, true}));
        auto links = session.backend().links();
        EXPECT_EQ(links.size(), cpu_links.size() + 2);
        uint64_t before = session.model().ledger().wait_samples;
        ASSERT_TRUE(session.pump_until(
            [&] { return session.model().ledger().wait_samples > before + 20; }));
        must(session.backend().set_sampling({999, true}));
        EXPECT_EQ(session.backend().links(), links);
        must(session.backend().set_sampling({499, false}));
        EXPECT_EQ(session.backend().links(), cpu_links);
    }
    program.signal(SIGTERM);
    session.pump_to_end();
    // No wait of this program lasts a tenth of a second.
    const SampleStore& samples = session.model().samples();
    for (size_t i = 0; i < samples.size(); i++) {
        if (samples.kinds()[i] == SampleKind::blocked) {
            EXPECT_LT(samples.weights()[i], 1'000'000'000u);
        }
    }
    EXPECT_EQ(session.model().ledger().wait_samples + session.model().ledger().samples,
              samples.size());
    EXPECT_TRUE(session.calls(probe).add_up());
}

// A thread may be woken while it is still on its way off the CPU: what it waits from then on is a
// wait for that CPU.
TEST_F(Wall, AThreadThatIsWokenBeforeItSleepsIsRunnable) {
    // No more than a CPU may report at once (WIRE_SLOW_BURST), however quick the machine is.
    Program program("early_wakes", {"--calls", "60", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.time("wait_once", {Threshold::Kind::fixed, 0, 0});
    must(session.backend().set_sampling({99, true}));
    program.go();
    session.pump_to_end();
    const nlohmann::json truth = program.account()["wait_once"];
    const auto& slow = session.model().slow_calls();
    ASSERT_EQ(slow.size(), truth.size());
    ASSERT_EQ(session.lost("slow calls: event ring full"), 0u);
    // Call by call, by the kernel's own account of the thread.
    std::vector<double> walls, runnable_shares, runnable_off, blocked_off;
    for (size_t i = 0; i < slow.size(); i++) {
        const double wall = truth[i]["wall_ns"], cpu = truth[i]["cpu_ns"],
                     runnable = truth[i]["runnable_ns"];
        ASSERT_TRUE(slow[i].end.waits);
        const auto& waits = *slow[i].end.waits;
        walls.push_back(wall);
        runnable_shares.push_back(runnable / wall);
        runnable_off.push_back(std::abs(static_cast<double>(waits.runnable_ns) - runnable));
        blocked_off.push_back(
            std::abs(static_cast<double>(waits.blocked_ns) - (wall - cpu - runnable)));
    }
    fmt::print(
        "a call of {:.1f} us: runnable {:.3f} of it, off by {:.1f} us, blocked by {:.1f} us\n",
        median(walls) / 1e3, median(runnable_shares), median(runnable_off) / 1e3,
        median(blocked_off) / 1e3);
    // Else there is nothing to be taken for blocked.
    EXPECT_GT(median(runnable_shares), 0.5);
    // The two accounts are not read at one moment: a thread that loses the CPU in between waits in
    // one of them only. That happens to few calls, which do not move the median.
    EXPECT_LT(median(runnable_off), 0.02 * median(walls));
    EXPECT_LT(median(blocked_off), 0.02 * median(walls));
}

// A thread's time is what it was sampled for, even of one that is in step with the clock. Of
// running and of waiting, a period at the beginning and one at the end may be missing or too much;
// and a switch to the thread and one away from it, 200 us on a machine where others look on, are
// neither in each beat.
TEST_F(Wall, TheTimeOfAThreadInStepWithTheClockIsWhole) {
    Program program("metronome", {"--seconds", "4", "--period-us", "10000", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_sampling({100, true})); // in step with the program, too
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    std::map<std::string, Sums> sums;
    const SampleStore& samples = session.model().samples();
    for (size_t i = 0; i < samples.size(); i++)
        of(sums[session.model().symbols().thread(samples.threads()[i]).comm], samples.kinds()[i]) +=
            static_cast<double>(samples.weights()[i]);
    for (const auto& [name, truth] : account["threads"].items()) {
        SCOPED_TRACE(name + " " + truth.dump());
        const double period = 10e6, wall = truth["wall_ns"], cpu = truth["cpu_ns"];
        const double switches = wall / period * 200e3;
        fmt::print("{}: {} {} {} ms\n", name, of(sums[name], SampleKind::cpu) / 1e6,
                   of(sums[name], SampleKind::blocked) / 1e6,
                   of(sums[name], SampleKind::runnable) / 1e6);
        EXPECT_NEAR(total(sums[name]), wall, 4 * period + switches);
        EXPECT_NEAR(of(sums[name], SampleKind::cpu), cpu, 2 * period + switches);
    }
}

// A blocked stack goes on with who ended the wait, from there outwards.
TEST_F(Wall, WhoEndedAWaitIsSaidWithItsStack) {
    Program program("waits", {"--calls", "40", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    for (const std::string& kind : kinds)
        session.time(kind, {Threshold::Kind::fixed, 0, 0});
    SamplingSettings settings{999, true};
    settings.wakers = true;
    must(session.backend().set_sampling(settings));
    const double stolen_before = stolen_ns();
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    EXPECT_TRUE(account["ok"].get<bool>()) << account;
    const double stolen = stolen_since_ns(stolen_before);
    session.backend().settle_symbols(std::chrono::seconds(60));
    EXPECT_EQ(session.lost("slow calls: rate limit"), 0u);
    std::map<std::string, double> inside; // from entries to exits
    for (const SlowCall& call : session.model().slow_calls())
        inside[session.model().symbols().thread(call.end.thread).comm] +=
            static_cast<double>(call.end.time_ns - call.end.call.start_ns);
    std::map<std::string, std::map<std::string, size_t>> wakers; // by thread
    std::map<std::string, double> waited;                        // ns; by thread
    size_t fed_by_writer = 0;
    const SampleStore& samples = session.model().samples();
    for (size_t i = 0; i < samples.size(); i++) {
        const auto names = session.stack_names(samples.stacks()[i]);
        const auto waker = std::ranges::find_if(
            names, [](const std::string& name) { return name.starts_with("[woken by"); });
        const std::string& comm = session.model().symbols().thread(samples.threads()[i]).comm;
        if (samples.kinds()[i] != SampleKind::blocked) {
            EXPECT_EQ(waker, names.end()) << comm;
            continue;
        }
        ASSERT_NE(waker, names.end()) << comm;
        // What the kernel blocks on for itself (memory, other threads' mappings) is nobody's here.
        const auto waits_in = std::map<std::string, std::string>{
            {"reads", "[read]"}, {"sleeps", "[clock_nanosleep]"}, {"locks", "[futex]"}};
        const auto wanted = waits_in.find(comm);
        if (wanted == waits_in.end() || *(waker + 1) != wanted->second ||
            samples.calls()[i] == no_call)
            continue;
        wakers[comm][*waker]++;
        waited[comm] += static_cast<double>(samples.weights()[i]);
        // Leaf first: what the waker did stands before, its own leaf last.
        fed_by_writer += comm == "reads" && std::count(names.begin(), waker, "write") > 0;
    }
    const auto all_by = [&](const std::string& comm, const std::string& name) {
        EXPECT_THAT(wakers[comm], testing::ElementsAre(testing::Key("[woken by " + name + "]")));
    };
    // Only the feeder writes into that pipe, only the holder gives that lock back, and only timers
    // end that sleep, whomever they interrupt.
    all_by("reads", "feeder");
    all_by("locks", "holder");
    all_by("sleeps", "interrupt");
    EXPECT_EQ(fed_by_writer, wakers["reads"]["[woken by feeder]"]);
    // And those are all waits of the calls, within what chance makes of ticks; but `locks` sleeps
    // besides, for as long as it says at most.
    for (const std::string comm : {"reads", "sleeps", "locks"}) {
        SCOPED_TRACE(comm + " " + account["kinds"][comm].dump());
        const Truth truth = truth_of(account, comm);
        const double bound = apart_ns(truth, inside[comm], stolen) +
                             chance_ns(truth, truth.blocked(), settings.rate_hz);
        const double besides = comm == "locks" ? truth.slept : 0;
        fmt::print("{}: {:.1f} of {:.1f} ms (+-{:.1f}), {:.1f} besides\n", comm, waited[comm] / 1e6,
                   truth.blocked() / 1e6, bound / 1e6, besides / 1e6);
        EXPECT_LE(waited[comm], truth.blocked() + bound);
        EXPECT_GE(waited[comm], truth.blocked() - besides - bound);
        EXPECT_GT(truth.blocked() - besides - bound, 0);
    }
}

} // namespace
} // namespace auger::test
