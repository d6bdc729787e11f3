// SPDX-License-Identifier: GPL-3.0-or-later
// Sampling: where samples fall agrees with the CPU time that the program measured itself, at every
// rate, and none goes missing unnoticed.
#include "tests/kernel/program.h"
#include "tests/kernel/ring_space.h"
#include "tests/kernel/running_time.h"
#include "tests/kernel/session.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait.h"
#include "views/model/fold.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include <unistd.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <map>

namespace auger::test {
namespace {

using std::chrono::seconds;

class Samples : public KernelTest {
  protected:
    // Own CPU time of a function, summed over the threads.
    static double cpu_ns(const nlohmann::json& account, const char* function) {
        double sum = 0;
        for (const auto& thread : account.at("threads"))
            sum += thread[function]["cpu_ns"].get<double>();
        return sum;
    }
    static double cpu_ns(const nlohmann::json& account) {
        return cpu_ns(account, "hot") + cpu_ns(account, "warm") + cpu_ns(account, "cold");
    }
    static SampleSum total(Session& session, const std::string& function) {
        SampleSum sum;
        const SymbolTables& symbols = session.model().symbols();
        for (const FunctionSums& one : sum_functions(session.model(), {})) {
            if (symbols.name(one.function) == function)
                sum += one.total.sum();
        }
        return sum;
    }
    static double ticks(Session& session) {
        must(session.backend().refresh());
        return static_cast<double>(session.model().ledger().ticks);
    }
    static double cpu_of(const Program& program) {
        clockid_t clock = 0;
        timespec time = {};
        if (clock_getcpuclockid(program.pid(), &clock) != 0 || clock_gettime(clock, &time) != 0)
            throw std::runtime_error("the program has no CPU clock");
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
    }
    // A count of ticks, with the program's CPU time before it, and for how long it had run after
    // it: whoever reads may have to wait for a CPU in between.
    struct TickReading {
        double cpu[2] = {}, running[2] = {}, ticks = 0;
    };
    static TickReading read_ticks(Session& session, const Program& program,
                                  const RunningTime& running) {
        TickReading reading;
        reading.running[0] = running.ns();
        reading.cpu[0] = cpu_of(program);
        reading.ticks = ticks(session);
        reading.cpu[1] = cpu_of(program);
        reading.running[1] = running.ns();
        return reading;
    }
    // Between two of them; seconds.
    struct Ticked {
        double ticks, least, most;
    };
    static Ticked ticked_between(const TickReading& begin, const TickReading& end) {
        return {end.ticks - begin.ticks, (end.cpu[0] - begin.cpu[1]) / 1e9,
                (end.running[1] - begin.running[0]) / 1e9};
    }
    // What the hypervisor took of all CPUs, ns, to within 10 ms of each (USER_HZ; proc_stat(5)).
    // The clock of a process is without it, that of the sampler goes on.
    static double stolen() {
        std::ifstream file("/proc/stat");
        std::string all;
        double time = 0;
        file >> all;
        for (int column = 0; column < 8; column++)
            file >> time;
        return time * 1e9 / static_cast<double>(sysconf(_SC_CLK_TCK));
    }
};

TEST_F(Samples, FallAsTheCpuTimeDoes) {
    Program program("spinner", {"--threads", "2", "--load", "80", "--calls", "150", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.sample(999);
    program.go();
    session.pump_to_end();
    session.backend().settle_symbols(seconds(60));
    nlohmann::json truth = program.account();
    session.expect_samples_add_up();

    double count = 0;
    for (const char* name : {"hot", "warm", "cold"})
        count += total(session, name).samples;
    ASSERT_GT(count, 1000);
    EXPECT_GT(count, 0.97 * static_cast<double>(session.model().samples().size()));
    // Four standard deviations of a binomial share; the slices are not random, which only helps.
    double whole = cpu_ns(truth);
    for (const char* name : {"hot", "warm", "cold"}) {
        double share = cpu_ns(truth, name) / whole;
        double sigma = std::sqrt(share * (1 - share) / count);
        EXPECT_NEAR(total(session, name).samples / count, share, 4 * sigma + 0.005) << name;
    }
    // Weights are CPU time. What the threads do outside of the three functions is a little more.
    double weight = fold(session.model(), {}).total().weight_ns;
    EXPECT_NEAR(weight / whole, 1, 0.03);

    // From the leaf to the thread's start.
    const SampleStore& samples = session.model().samples();
    size_t whole_stacks = 0;
    for (size_t i = 0; i < samples.size(); i++) {
        const StackId stack = samples.stacks()[i];
        auto names = session.stack_names(stack);
        auto at = std::find_if(names.begin(), names.end(), [](const std::string& name) {
            return name == "hot" || name == "warm" || name == "cold";
        });
        if (at == names.end())
            continue;
        whole_stacks += names.end() - at > 2 && at[1] == "spin_slice" && at[2] == "spin";
        EXPECT_THAT(session.model().symbols().thread(samples.threads()[i]).comm,
                    testing::StartsWith("spin-"));
    }
    EXPECT_GT(static_cast<double>(whole_stacks), 0.98 * count);
}

// But no longer when the target has ended, and all that it left is here: nobody looks any more.
TEST_F(Samples, AreWaitedForAsLongAsSomeMayCome) {
    Program program("spinner", {"--calls", "20", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.sample(999);
    const uint64_t now = session.backend().now_ns();
    EXPECT_TRUE(session.backend().keeps_samples_before(now));
    EXPECT_TRUE(session.pump_until([&] { return !session.backend().keeps_samples_before(now); }));
    program.go();
    session.pump_to_end();
    const uint64_t later = session.backend().now_ns() + 3'600'000'000'000;
    EXPECT_FALSE(session.backend().keeps_samples_before(later));
}

TEST_F(Samples, ComeAtTheRateThatIsSetLive) {
    Program program("spinner", {"--threads", "2", "--load", "80"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    // A thread ticks when it has used up a period of CPU time since the rate was set: so of two
    // threads less than a tick each is missing, and none is too much. 3 % are the way into the
    // thread and out of it, where its clock goes and the sampler's does not.
    const RunningTime running(program.pid());
    for (uint32_t rate : {99u, 999u, 9'999u, 999u, 1u}) {
        SCOPED_TRACE(rate);
        session.sample(rate);
        const TickReading begin = read_ticks(session, program, running);
        const double wanted = std::max(3.0, 0.5 * rate);
        ASSERT_TRUE(session.pump_until([&] { return ticks(session) - begin.ticks >= wanted; }));
        const auto [ticked, least, most] =
            ticked_between(begin, read_ticks(session, program, running));
        fmt::print("{} Hz: {} ticks in {} to {} s of CPU time\n", rate, ticked, least, most);
        EXPECT_LE(ticked, most * rate + 2);
        EXPECT_GE(ticked, 0.97 * least * rate - 2);
        const LedgerEvent& ledger = session.model().ledger();
        EXPECT_EQ(ledger.rate_hz, rate);
        // It is of a span that begins and ends with looks at counts, some ms from these here.
        const double around = 4 + 0.03 * ticked + 0.02 * rate;
        EXPECT_LE(ledger.rate_achieved_hz * least, ticked + around);
        EXPECT_GE(ledger.rate_achieved_hz * most, ticked - around);
    }
    // The fastest: what comes is up to the machine, and the ledger says what came.
    session.sample(49'999);
    const TickReading begin = read_ticks(session, program, running);
    ASSERT_TRUE(session.pump_until([&] { return ticks(session) - begin.ticks > 10'000; }));
    const auto [ticked, least, most] = ticked_between(begin, read_ticks(session, program, running));
    EXPECT_LT(ticked / most, 49'999 * 1.03);
    // A tick that takes longer than the period leaves out those that fall into it: from the end of
    // one the next is at most a period away. What one takes is known to within an eighth
    // (durations_test.cpp); 3 % as above.
    const double gap = static_cast<double>(session.model().ledger().sample_gap_ns);
    fmt::print("49,999 Hz: {} to {} Hz, a tick takes {} ns\n", ticked / most, ticked / least, gap);
    EXPECT_GT(ticked / least, 0.97e9 / (1e9 / 49'999 + 1.125 * gap));
    EXPECT_EQ(session.model().ledger().rate_hz, 49'999u);
    EXPECT_LT(session.model().ledger().rate_achieved_hz, 1.05 * ticked / least);
    EXPECT_GT(session.model().ledger().rate_achieved_hz, 0.95 * ticked / most);
    session.sample(0);
    double stopped = ticks(session);
    uint64_t time = session.backend().now_ns();
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().now_ns() > time + 200'000'000; }));
    EXPECT_EQ(ticks(session), stopped);
    EXPECT_EQ(session.model().ledger().rate_hz, 0u);
    session.expect_samples_add_up();
}

// The program's threads and the shell's child begin after the sampling has.
TEST_F(Samples, IncludeThreadsAndProcessesThatComeLater) {
    const TemporaryFolder folder;
    const std::string shell_path = folder.path("shell"), account_path = folder.path("account");
    Session session;
    TargetSpec command;
    command.kind = TargetSpec::Kind::command;
    command.command = {"/bin/sh", "-c",
                       "echo $$ > " + shell_path + "; " + program_path("spinner") +
                           " --threads 2 --seconds 1 > " + account_path + "; exit 7"};
    session.observe(command);
    session.sample(999);
    must(session.backend().start_command());
    session.pump_to_end();
    session.backend().settle_symbols(seconds(60));
    session.expect_samples_add_up();
    uint32_t shell = 0;
    std::ifstream(shell_path) >> shell;
    std::ifstream file(account_path);
    nlohmann::json truth;
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("{"))
            truth = nlohmann::json::parse(line);
    ASSERT_TRUE(truth.contains("pid"));
    const uint32_t spinner = truth["pid"];
    ASSERT_NE(spinner, shell);

    // Of no other processes than the two, and of each thread what it used of the CPU.
    std::map<std::string, std::map<uint32_t, double>> weights; // ns; by name and process
    const SampleStore& samples = session.model().samples();
    for (size_t i = 0; i < samples.size(); i++) {
        const ThreadInfo& thread = session.model().symbols().thread(samples.threads()[i]);
        EXPECT_THAT(thread.pid, testing::AnyOf(shell, spinner)) << thread.comm;
        weights[thread.comm][thread.pid] += static_cast<double>(samples.weights()[i]);
    }
    const double period = 1e9 / 999;
    for (const nlohmann::json& thread : truth["threads"]) {
        const std::string name = thread["name"];
        EXPECT_THAT(weights[name], testing::ElementsAre(testing::Key(spinner))) << name;
        double cpu = 0;
        for (const char* function : {"hot", "warm", "cold"})
            cpu += thread[function]["cpu_ns"].get<double>();
        fmt::print("{}: {:.1f} of {:.1f} ms\n", name, weights[name][spinner] / 1e6, cpu / 1e6);
        EXPECT_NEAR(weights[name][spinner], cpu, 0.03 * cpu + period) << name;
    }
    // The processes are gone, their functions still have names. Four standard deviations of a
    // binomial share; the slices are not random, which only helps.
    double count = 0;
    for (const char* name : {"hot", "warm", "cold"})
        count += total(session, name).samples;
    const double share = cpu_ns(truth, "hot") / cpu_ns(truth);
    EXPECT_NEAR(total(session, "hot").samples / count, share,
                4 * std::sqrt(share * (1 - share) / count));
}

void observe_everything(Session& session) {
    TargetSpec everything;
    everything.kind = TargetSpec::Kind::all;
    session.observe(everything);
}

// Whenever they are read, also while a CPU is at a tick: of 10,000 a second, each some microseconds
// long, 500 readings meet one.
TEST_F(Samples, AddUpWhileTheyAreTaken) {
    Program program("spinner", {"--threads", "2"});
    program.wait_ready();
    Session session;
    observe_everything(session);
    session.sample(9'999);
    uint64_t before = 0;
    for (int reading = 0; reading < 500; reading++) {
        must(session.backend().refresh());
        const LedgerEvent& ledger = session.model().ledger();
        ASSERT_EQ(ledger.ticks, ledger.samples + ledger.filtered + ledger.gated +
                                    ledger.lost.at("samples: event ring full"))
            << reading;
        EXPECT_GE(ledger.ticks, before);
        before = ledger.ticks;
    }
    EXPECT_GT(before, 0u);
}

// Everything, which includes this program and others: the target is among them, auger is not.
TEST_F(Samples, OfTheWholeMachine) {
    Program program("spinner", {"--threads", "2"});
    program.wait_ready();
    Session session;
    observe_everything(session);
    const RunningTime running(program.pid());
    const double rate = 999, period = 1e9 / rate;
    session.sample(999);
    auto count = [&](pid_t pid) {
        size_t sum = 0;
        const SampleStore& samples = session.model().samples();
        for (size_t i = 0; i < samples.size(); i++)
            sum += session.model().symbols().thread(samples.threads()[i]).pid ==
                   static_cast<uint32_t>(pid);
        return sum;
    };
    // A reading of the counts, and of clocks before it and after it.
    struct Reading {
        double ticks = 0, samples = 0;
        double time[2] = {}, cpu[2] = {}, running[2] = {}, stolen = 0;
    };
    const auto read = [&] {
        Reading reading;
        reading.time[0] = static_cast<double>(session.backend().now_ns());
        reading.running[0] = running.ns();
        reading.cpu[0] = cpu_of(program);
        reading.ticks = ticks(session);
        reading.samples = static_cast<double>(count(program.pid()));
        reading.cpu[1] = cpu_of(program);
        reading.running[1] = running.ns();
        reading.time[1] = static_cast<double>(session.backend().now_ns());
        reading.stolen = stolen();
        return reading;
    };
    const Reading begin = read();
    ASSERT_TRUE(session.pump_until([&] { return count(program.pid()) >= 1'000; }));
    const Reading end = read();
    session.sample(0);
    EXPECT_EQ(count(getpid()), 0u);
    EXPECT_EQ(count(0), 0u);
    session.expect_samples_add_up();

    const double cpus = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
    const double least = end.time[0] - begin.time[1], most = end.time[1] - begin.time[0];
    const double ticked = end.ticks - begin.ticks, of_program = end.samples - begin.samples;
    fmt::print("{} ticks, {:.1f} to {:.1f}; {} of the program, {:.1f} to {:.1f}; stolen {} ms\n",
               ticked, cpus * least / period, cpus * most / period, of_program,
               (end.cpu[0] - begin.cpu[1]) / period, (end.running[1] - begin.running[0]) / period,
               (end.stolen - begin.stolen) / 1e6);
    // A CPU that is asleep (a virtual one, above all) may wake too late for a tick, so there is no
    // lower bound for all of them; the program's own are the measure below.
    EXPECT_LE(ticked, cpus * (most / period + 1));
    const double sigma = std::sqrt(of_program);
    EXPECT_LE(of_program, (end.running[1] - begin.running[0]) / period + 4 * sigma);
    EXPECT_GE(of_program, 0.98 * (end.cpu[0] - begin.cpu[1]) / period - 4 * sigma);
}

// Nobody empties the ring while several threads are sampled as fast as can be: what does not fit is
// counted, and the account is still whole.
TEST_F(Samples, ThatTheRingHasNoRoomForAreCounted) {
    Program program("spinner", {"--threads", "4", "--slice-us", "1000", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ProbeId probe = session.time("hot");
    session.sample(49'999);
    program.go();
    // refresh() empties the ring; until then it fills up, and goes on to be full for a while.
    const RingSpace ring;
    const auto is_full = [&] { return ring.free_bytes() < 1'000; };
    ASSERT_TRUE(wait_until(is_full) || wait_until(is_full)) << ring.free_bytes();
    const auto own_cpu = [&] {
        program.signal(SIGUSR1);
        return cpu_ns(program.account());
    };
    // Of most of the time ticks take all that they can.
    const double cpu_before = own_cpu();
    ASSERT_TRUE(wait_until([&] { return own_cpu() - cpu_before > 2e8; }));
    session.sample(0);
    EXPECT_GT(session.lost("samples: event ring full"), 0u);
    session.expect_samples_add_up();
    // And it goes on as if nothing had been.
    session.sample(999);
    uint64_t received = session.model().samples_received();
    ASSERT_TRUE(
        session.pump_until([&] { return session.model().samples_received() > received + 100; }));
    program.signal(SIGTERM);
    session.pump_to_end();
    uint64_t hot_calls = 0;
    const nlohmann::json account = program.account();
    for (const nlohmann::json& thread : account["threads"])
        hot_calls += thread["hot"]["calls"].get<uint64_t>();
    EXPECT_EQ(program.wait_exit(), 0);
    // No call is lost, though ends of calls that held samples were.
    EXPECT_GT(session.lost("call ends: event ring full"), 0u);
    const Calls calls = session.calls(probe);
    EXPECT_TRUE(calls.add_up());
    EXPECT_EQ(calls.entries, hot_calls);
    EXPECT_EQ(calls.returns, hot_calls);
    session.expect_samples_add_up();
}

} // namespace
} // namespace auger::test
