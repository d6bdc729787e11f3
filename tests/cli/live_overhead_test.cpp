// SPDX-License-Identifier: GPL-3.0-or-later
// What observing costs and how it is kept within its limit, on programs that know how much they get
// done.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

#include <csignal>
#include <fstream>
#include <map>
#include <sched.h>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace auger::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

class LiveOverhead : public LiveTest {
  protected:
    // What the program has done since the last time it was asked.
    struct Progress {
        double calls, cpu_ns;
        double per_cpu() const { return calls / cpu_ns; }
    };
    static json account_now(Program& program) {
        program.signal(SIGUSR1);
        return program.account();
    }
    // While auger does what the line says.
    static Progress during(LiveAuger& auger, Program& program, const std::string& line) {
        const json before = account_now(program);
        auger.run({line});
        const json after = account_now(program);
        return {after["calls"].get<double>() - before["calls"].get<double>(),
                after["cpu_ns"].get<double>() - before["cpu_ns"].get<double>()};
    }
    static json cause(const json& overhead, const std::string& kind) {
        for (const json& one : overhead["causes"])
            if (one["cause"] == kind)
                return one;
        ADD_FAILURE() << kind << " is not in " << overhead;
        return json::object();
    }
    static bool is_off(LiveAuger& auger) { return auger.ask("probes")["off"]; }
    static std::string told(LiveAuger& auger, const std::string& text) {
        for (const std::string& notice : auger.notices)
            if (notice.find(text) != notice.npos)
                return notice;
        return {};
    }
};

// What a probe costs is told before it is attached, and how short calls may be for that, by the
// share of the time in them: 70, 20 and 10 %, as the program has it.
TEST_F(LiveOverhead, OfAProbeIsToldBeforehand) {
    Program program("spinner", {});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid())});
    // Not in step with the program, whose functions take turns every 10 ms of CPU time.
    auger.run({"sample 431", "wait until samples > 1000 for 60s"});
    const json links = auger.ask("status")["links"];
    // Six standard deviations of the share of a thousand samples, which is at most 0.5 /
    // sqrt(1000).
    constexpr double tolerance = 6 * 0.016;
    for (const auto& [function, share] :
         std::map<std::string, double>{{"hot", 0.7}, {"warm", 0.2}, {"cold", 0.1}}) {
        SCOPED_TRACE(function);
        const json plan = auger.ask("time --dry-run " + function);
        ASSERT_EQ(plan["places"].size(), 1u);
        const json& place = plan["places"][0];
        EXPECT_EQ(place["function"], function);
        EXPECT_GT(place["least"], 0);
        EXPECT_GE(place["most"], place["least"]);
        EXPECT_NEAR(place["share"], share, tolerance);
        EXPECT_NEAR(plan["shortest"].get<double>(),
                    place["share"].get<double>() * place["most"].get<double>() / 0.05, 1e-6);
        EXPECT_EQ(auger.ask("status")["links"], links);
        // It is where and how it is timed then.
        auger.run({"time " + function});
        const json timed = auger.ask("functions " + function)["functions"][0];
        EXPECT_EQ(timed["module"], place["module"]);
        EXPECT_EQ(timed["offset"], place["offset"]);
        auger.run({"delete " + function});
    }
}

TEST_F(LiveOverhead, IsShownByCauseAndSetLikeOtherSettings) {
    Program program("hot_calls", {"--work", "100000"});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid()), "--overhead", "60"});
    auger.run({"time hot", "sample 499", "wait 2500ms"});
    const json shares = auger.ask("overhead");
    EXPECT_EQ(shares["limit"], 60);
    // One thread that runs whenever it may: its CPU time, by the program, cannot be more than went
    // by.
    EXPECT_GT(shares["target"], 0);
    EXPECT_LE(shares["target"].get<double>(),
              shares["end"].get<double>() - shares["begin"].get<double>() + 50e6);
    const json samples = cause(shares, "samples"), probe = cause(shares, "probe");
    EXPECT_EQ(probe["text"], "hot");
    EXPECT_GT(samples["events"], 0);
    EXPECT_GT(probe["events"], 0);
    // Its clock has been stopped and started, too, if it ever had to leave its CPU.
    uint64_t sum = 0;
    for (const json& one : shares["causes"]) {
        sum += one["cost"].get<uint64_t>();
        EXPECT_THAT(one["cause"], testing::AnyOf("samples", "clocks", "probe"));
        EXPECT_EQ(one["measured"], one["cause"] == "samples");
    }
    EXPECT_EQ(shares["cost"].get<uint64_t>(), sum);
    EXPECT_EQ(auger.ask("status")["overhead"]["limit"], 60);

    auger.run({"overhead 10", "overhead off"});
    EXPECT_EQ(auger.ask("overhead")["limit"], nullptr);
    auger.run({"undo"});
    EXPECT_EQ(auger.ask("overhead")["limit"], 10);
    const std::string saved = folder_.path("saved.aug");
    auger.run({"time hot off", "save " + saved});
    EXPECT_THAT(text_of(saved), HasSubstr("overhead 10\n"));
    EXPECT_THAT(text_of(saved), HasSubstr("time hot off\n"));
}

TEST_F(LiveOverhead, IsKeptByTakingOffAProbeThatIsHitAllTheTime) {
    Program program("hot_calls", {});
    program.wait_ready();
    const std::string recording = folder_.path("hot.auger");
    LiveAuger auger(
        {"-p", std::to_string(program.pid()), "--overhead", "off", "--record", recording});
    const Progress plain = during(auger, program, "wait 1s");
    auger.run({"time hot"});
    const Progress probed = during(auger, program, "wait 2s");
    EXPECT_GT(cause(auger.ask("overhead"), "probe")["share"], 0.5);
    EXPECT_FALSE(is_off(auger));
    EXPECT_THAT(told(auger, "overhead: "), HasSubstr("probe 1 (hot) took"));

    auger.run({"overhead 25"});
    EXPECT_TRUE(wait_until([&] {
        auger.run({"wait 200ms"});
        return is_off(auger);
    }));
    EXPECT_THAT(told(auger, "it is off"), HasSubstr("\"time hot\" brings it back"));
    const uint64_t entries = auger.ask("status")["calls"]["entries"];
    EXPECT_GT(entries, 0u);
    const Progress after = during(auger, program, "wait 1s");
    // Without a probe a call takes a hundredth of what it takes with one, and machines that are
    // shared run at half their speed at times, not at a tenth.
    EXPECT_LT(probed.per_cpu(), 0.2 * plain.per_cpu());
    EXPECT_GT(after.per_cpu(), 0.4 * plain.per_cpu());
    // What was collected is still there, and nothing is added.
    EXPECT_EQ(auger.ask("status")["calls"]["entries"], entries);
    EXPECT_EQ(auger.ask("status")["checks"]["calls"], true);
    EXPECT_GT(auger.ask("hist hot")["count"], 0);

    auger.run({"overhead off", "time hot"});
    EXPECT_FALSE(is_off(auger));
    auger.run({"wait until entries hot > " + std::to_string(entries) + " for 30s", "undo"});
    EXPECT_TRUE(is_off(auger));
    auger.run({"record off"});
    const Outcome replayed =
        test::auger({"--batch", "--replay", recording, "-e", "status; overhead; probes"});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    EXPECT_THAT(replayed.out + replayed.err, HasSubstr("overhead: probe 1 (hot) took"));
    EXPECT_THAT(replayed.out, HasSubstr("timed, off"));
}

TEST_F(LiveOverhead, IsKeptByALowerRate) {
    Program program("hot_calls", {});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid()), "--overhead", "3"});
    auger.run({"sample 20000"});
    EXPECT_TRUE(wait_until([&] {
        auger.run({"wait 200ms"});
        return auger.ask("status")["rate"] < 20000;
    }));
    EXPECT_THAT(told(auger, "instead of 20000"), HasSubstr("\"sample 20000\" brings it back"));
    EXPECT_THAT(auger.ask("undo")["undone"].get<std::string>(), HasSubstr("overhead: sample "));
    EXPECT_EQ(auger.ask("status")["rate"], 20000);
}

// 2,000 threads that sleep for 60 ms each, at a rate at which every wait would be a sample. A
// wake-up takes from 4 us to 25 us (where waking a virtual CPU leaves the guest), so theirs take at
// most 33,000 x 25 us = 0.83 s of CPU time a second: the machine has time left for auger.
TEST_F(LiveOverhead, IsKeptWithThousandsOfThreads) {
    constexpr double threads = 2'000;
    Program program("crowd", {"--threads", "2000", "--sleep-us", "60000"});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid()), "--overhead", "off"});
    auger.run({"sample wall 999", "wait 2500ms"});
    // Between what all those switches take with their stacks and without. One without takes less
    // than half of one with (a fifth and a twelfth of the program's time, 15 % and 6 %).
    const json full = auger.ask("overhead");
    const auto limit = static_cast<int>(100 * (cause(full, "samples")["share"].get<double>() +
                                               0.7 * cause(full, "waits")["share"].get<double>()));
    auger.run({"overhead " + std::to_string(limit)});
    // Until spans have gone by in which nothing had to be done: what is lost is less than a
    // hundredth. Each of eight steps at most (999, 62, 31, ... 1 Hz, and none) takes three spans
    // beyond the limit and the one in which the former was done, of a second each: 32 s, 13 of
    // these waits. Those of a machine with more to do than it can are longer.
    constexpr int most_waits = 26;
    uint64_t rate = 0;
    bool settled = false;
    for (int i = 0; i < most_waits && !settled; i++) {
        const json before = auger.ask("status");
        auger.run({"wait 2500ms"});
        const json status = auger.ask("status");
        const auto more = [&](const char* group, const char* name) {
            const auto count = [&](const json& all) { return all[group].value(name, uint64_t{0}); };
            return static_cast<double>(count(status) - count(before));
        };
        const double lost = more("lost", "samples of waits: event ring full");
        const double came = more("waits", "samples");
        rate = status["waits_rate"].is_null() ? 0 : status["waits_rate"].get<uint64_t>();
        settled = rate > 0 && rate < 999 && status["waits_rate"] == before["waits_rate"] &&
                  came > 0 && lost <= 0.01 * (lost + came);
    }
    EXPECT_TRUE(settled);
    EXPECT_FALSE(told(auger, "waits are sampled at").empty());
    // What threads do nearly all the time, in the weights of few samples: n of them are off by
    // 1 / sqrt(n), here less than a twentieth.
    const json before = account_now(program);
    auger.run({"wait 3s", "window 2s"});
    const json flame = auger.ask("flame");
    const json after = account_now(program);
    double blocked = 0;
    for (const json& entry : flame["stacks"])
        blocked += entry["blocked"].get<double>();
    const double dozing = (after["dozed_ns"].get<double>() - before["dozed_ns"].get<double>()) /
                          (after["now_ns"].get<double>() - before["now_ns"].get<double>());
    EXPECT_LE(blocked / 2e9, 1.2 * threads);
    EXPECT_GT(blocked / 2e9, 0.5 * std::min(threads, dozing));
}

// auger has one CPU with another that has nothing else to do, and 15 to that one's 1,024 of its
// weight (nice 19 to nice 0): some 1.4 %, which is too little for what is to be taken in on most
// machines. To find that out takes some 0.15 s of CPU time, a minute where others want that CPU,
// too. Where it is enough nothing is lost, and nobody is put behind.
TEST_F(LiveOverhead, OfAMachineThatHasTooMuchToDoEventsAreTakenInAllTheSame) {
    Program program("crowd", {"--threads", "200", "--sleep-us", "10000"});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid()), "--overhead", "off"});
    // Verifying programs, and opening the clocks of 200 threads, takes as much CPU time as a minute
    // has for it then.
    auger.run({"sample wall 999"});
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    std::jthread busy([one](const std::stop_token& stop) {
        sched_setaffinity(0, sizeof one, &one);
        while (!stop.stop_requested()) {
        }
    });
    ASSERT_EQ(sched_setaffinity(auger.pid(), sizeof one, &one), 0);
    ASSERT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(auger.pid()), 19), 0);
    const auto ran = [&] { // of the thread that takes events, ns
        uint64_t time = 0;
        std::ifstream(fmt::format("/proc/{}/schedstat", auger.pid())) >> time;
        return time;
    };
    const auto lost = [&] {
        const json status = auger.ask("status");
        uint64_t events = 0;
        for (const auto& [cause, count] : status.at("lost").items())
            if (cause.ends_with("ring full"))
                events += count.get<uint64_t>();
        return events;
    };
    // What is lost at the end of that time is judged a little later.
    const uint64_t begin = ran(), enough = 250'000'000;
    const auto goes_on = [&] {
        const uint64_t time = ran() - begin;
        return time < enough || (time < 2 * enough && lost() > 0);
    };
    std::string raised;
    do {
        auger.run({"wait 100ms"});
        raised = told(auger, "it runs at nice -15");
    } while (raised.empty() && goes_on());
    EXPECT_EQ(raised.empty(), lost() == 0);
    EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(auger.pid())), raised.empty() ? 19 : -15);
    EXPECT_THAT(raised, testing::AnyOf("", HasSubstr("events were lost")));
}

} // namespace
} // namespace auger::test
