// SPDX-License-Identifier: GPL-3.0-or-later
// Commands about samples, on a program that knows where its time goes: of each customer 300 us are
// advice, and of each tenth 6 ms are a search.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"
#include "tests/support/otlp_reader.h"
#include "tests/support/run.h"

#include <fmt/format.h>
#include <sched.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>

namespace auger::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr double hz = 4999;

class LiveSamples : public LiveTest {
  protected:
    // Of what has that label.
    static double cpu_ns_of(json flame, const std::string& label, const std::string& function) {
        for (json& entry : flame["stacks"])
            if (entry["stack"][0] != label)
                entry["cpu"] = 0;
        return cpu_ns_in(flame, function);
    }
    // Of n samples' worth of time five standard deviations are 5 / sqrt(n) of it.
    static void expect_time(double ns, double truth_ns, const char* what) {
        EXPECT_NEAR(ns / truth_ns, 1, 5 / std::sqrt(truth_ns / 1e9 * hz) + 0.05) << what;
    }
};

TEST_F(LiveSamples, AreWhereTheTimeWentInEveryView) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"time serve", "sample 4999"});
    see_all(auger, shop);
    auger.run({"sample off"});
    const json flame = auger.ask("flame");
    const double searched = 6e6 * static_cast<double>(shop.searches());
    const double advised = 3e5 * static_cast<double>(shop.served());
    // A call ends when it sees that its time is over: some microseconds later, and the clock that
    // it reads all the time is the kernel's.
    expect_time(cpu_ns_in(flame, "search"), searched, "search");
    expect_time(cpu_ns_in(flame, "advise"), advised, "advise");

    // The groups are what the kernel says of the threads, and each holds every sample once.
    const double samples = samples_of(flame);
    for (const char* by : {"process", "comm", "tid", "cgroup", "cpu"})
        EXPECT_EQ(samples_of(auger.ask(std::string("flame by ") + by)), samples) << by;
    EXPECT_THAT(labels_of(auger.ask("flame by comm")),
                testing::IsSupersetOf({"clerk-0", "clerk-1", "apprentice"}));
    // The apprentice, a process of its own, has a search in ten customers, too.
    const json by_process = auger.ask("flame by process");
    const double learnt = 6e6 * static_cast<double>(shop.apprentices() / 10);
    expect_time(cpu_ns_of(by_process, "apprentice", "search"), learnt, "the apprentice's searches");
    expect_time(cpu_ns_of(by_process, "shop", "search"), searched - learnt, "the clerks'");
    expect_time(cpu_ns_of(by_process, "apprentice", "advise"),
                3e5 * static_cast<double>(shop.apprentices()), "the apprentice's advice");
    std::set<std::string> threads;
    for (const char* pid : {"", "apprentice_pid"}) {
        const std::string of = *pid ? shop.account[pid].dump() : shop.pid();
        for (const auto& task : std::filesystem::directory_iterator("/proc/" + of + "/task")) {
            threads.insert(task.path().filename().string());
        }
    }
    // Clerks have gone home; the others' numbers are known, whatever they were called. A clerk who
    // was seen before he had a name is in two rows.
    const std::set<std::string> by_tid = labels_of(auger.ask("flame by tid"));
    const auto tid_in = [](const std::string& label) { return label.substr(label.rfind(' ') + 1); };
    for (const std::string& label : by_tid)
        if (label.starts_with("clerk-"))
            threads.insert(tid_in(label));
    for (const std::string& label : by_tid)
        EXPECT_THAT(threads, Contains(tid_in(label))) << label;
    std::string group = text_of("/proc/" + shop.pid() + "/cgroup");
    group = group.substr(group.rfind(':') + 1);
    group.pop_back();
    EXPECT_EQ(labels_of(auger.ask("flame by cgroup")), std::set<std::string>{group});

    const json under = auger.ask("flame under search");
    for (const json& entry : under["stacks"])
        EXPECT_EQ(entry["stack"][1], "search") << entry;
    EXPECT_EQ(cpu_ns_in(under, "search"), cpu_ns_in(flame, "search"));
    const std::string folded = auger.ask("flame --folded")["folded"];
    uint64_t lines = 0, sum = 0;
    std::istringstream text(folded);
    for (std::string line; std::getline(text, line); lines++)
        sum += std::stoull(line.substr(line.rfind(' ') + 1));
    EXPECT_EQ(static_cast<double>(sum), samples);

    const json top = auger.ask("top"), listed = auger.ask("threads");
    for (const json& function : top["functions"])
        if (function["function"] == "search") {
            EXPECT_EQ(function["total"]["cpu"].get<double>(), cpu_ns_in(flame, "search"));
        }
    double of_threads = 0;
    std::set<std::string> comms;
    for (const json& thread : listed["threads"]) {
        of_threads += thread["total"]["samples"].get<double>();
        comms.insert(thread["comm"]);
    }
    EXPECT_EQ(of_threads, samples);
    EXPECT_THAT(comms, testing::IsSupersetOf({"clerk-0", "clerk-1", "apprentice"}));
    const json callers = auger.ask("callers search"), callees = auger.ask("callees serve");
    ASSERT_EQ(callers["functions"].size(), 1u);
    EXPECT_EQ(callers["functions"][0]["function"], "serve");
    std::set<std::string> called;
    for (const json& function : callees["functions"])
        called.insert(function["function"]);
    EXPECT_THAT(called, testing::IsSupersetOf({"advise", "search"}));
    // A customer is what clerks are done with at some time; advice is only a part of it.
    const json suggested = auger.ask("suggest");
    EXPECT_EQ(suggested["samples"], samples);
    ASSERT_FALSE(suggested["functions"].empty());
    // serve_customer does nothing but call serve and note it.
    const std::string function = suggested["functions"][0]["function"];
    EXPECT_THAT(function, testing::AnyOf("serve", "serve_customer"));
    EXPECT_LE(suggested["functions"][0]["returns"].get<uint64_t>(), shop.served());
    EXPECT_EQ(suggested["next"], function == "serve" ? "split serve > p95" : "time serve_customer");
    auger.run({"assert samples == " + fmt::format("{:.0f}", samples), "assert lost == 0"});
    EXPECT_EQ(auger.ask("status")["checks"]["samples"], true);
    EXPECT_EQ(auger.ask("status")["kept"], samples);
    EXPECT_THAT(auger.ask("help flame")["text"].get<std::string>(), HasSubstr("usage: flame"));
}

TEST_F(LiveSamples, RulesChangeWhatIsShown) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"time serve", "sample 4999"});
    see_all(auger, shop);
    auger.run({"sample off"});
    const json before = auger.ask("flame");
    auger.run({"rewrite frame /^search$/ look_up", "drop frame /^truth_spin_us$/", "fold recursion",
               "rewrite thread /clerk-[0-9]/ clerk"});
    EXPECT_EQ(auger.ask("rules")["rules"].size(), 4u);
    const json after = auger.ask("flame by comm");
    EXPECT_EQ(cpu_ns_in(after, "search"), 0);
    EXPECT_EQ(cpu_ns_in(after, "look_up"), cpu_ns_in(before, "search"));
    EXPECT_EQ(cpu_ns_in(after, "truth_spin_us"), 0);
    EXPECT_GT(cpu_ns_in(before, "truth_spin_us"), 0);
    EXPECT_EQ(samples_of(after), samples_of(before));
    EXPECT_THAT(labels_of(after), Contains("clerk"));
    auger.run({"rules off 1"});
    EXPECT_EQ(cpu_ns_in(auger.ask("flame"), "search"), cpu_ns_in(before, "search"));
    EXPECT_EQ(auger.ask("undo")["undone"], "rules off 1");
    EXPECT_EQ(cpu_ns_in(auger.ask("flame"), "look_up"), cpu_ns_in(before, "search"));
    auger.run({"rules off"});
    EXPECT_EQ(auger.ask("flame")["stacks"], before["stacks"]);
}

// Windows: what lies further back than a second has gone after a second; and fades as it should.
TEST_F(LiveSamples, WindowsHoldWhatTheirTimeHolds) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"time serve"});
    const auto begin = std::chrono::steady_clock::now();
    see_all(auger, shop);
    auger.run({"wait 1200ms", "window 1s"});
    EXPECT_EQ(auger.ask("hist serve")["count"], 0);
    auger.run({"ewma 10s"});
    const double faded = auger.ask("hist serve")["count"];
    const std::chrono::duration<double> age = std::chrono::steady_clock::now() - begin;
    const double all = static_cast<double>(shop.served());
    EXPECT_LT(faded, all * std::exp(-1.0 / 10)) << "all of it is a second old";
    EXPECT_GT(faded, all * std::exp(-age.count() / 10)) << "and none older than the session";
    auger.run({"window all"});
    EXPECT_EQ(auger.ask("hist serve")["count"], shop.served());
}

// Sampled only where the condition holds.
TEST_F(LiveSamples, RatesHaveConditions) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    // With a return probe, the end of a call is told a moment after it has returned.
    auger.run({"exit ret", "time serve", "time search", "sample 4999 only in search"});
    see_all(auger, shop);
    auger.run({"sample off"});
    const json flame = auger.ask("flame");
    expect_time(cpu_ns_in(flame, "search"), 6e6 * static_cast<double>(shop.searches()), "search");
    for (const json& entry : flame["stacks"])
        EXPECT_THAT(entry["stack"], Contains("search"));
}

// Two threads that do the same all the time; the program knows how much CPU time each spent in
// `hot` by now, but for what it is in the middle of.
TEST_F(LiveSamples, ThatAFilterKeptOutComeAgainWithoutIt) {
    Program program("spinner", {"--threads", "2", "--slice-us", "1000", "--seconds", "300"});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid())});
    const auto sampled_of = [&](const std::string& thread) {
        return cpu_ns_of(auger.ask("flame by comm"), thread, "hot");
    };
    const auto spent = [&] {
        program.signal(SIGUSR1);
        return program.account()["threads"][0]["hot"]["cpu_ns"].get<double>();
    };
    auger.run({"filter comm spin-1", "sample 4999"});
    EXPECT_TRUE(wait_until([&] {
        auger.run({"wait 100ms"});
        return sampled_of("spin-1") > 50e6;
    }));
    EXPECT_EQ(labels_of(auger.ask("flame by comm")), std::set<std::string>{"spin-1"});
    const double before = spent();
    auger.run({"filter off"});
    const double begun = spent();
    EXPECT_TRUE(wait_until([&] {
        auger.run({"wait 100ms"});
        return sampled_of("spin-0") > 50e6;
    }));
    const double ending = spent();
    auger.run({"sample off"});
    const double after = spent(), sampled = sampled_of("spin-0");
    // At each end a slice of 1 ms may not be in the program's account yet; of n samples' worth of
    // time five standard deviations are 5 / sqrt(n) of it.
    const auto off = [](double ns) { return 1e6 + 0.05 * ns + 5 * std::sqrt(ns * 1e9 / hz); };
    EXPECT_GE(sampled, ending - begun - off(ending - begun));
    EXPECT_LE(sampled, after - before + off(after - before));
    auger.run({"assert lost == 0"});
    program.signal(SIGTERM);
}

// A thread that is allowed on one CPU, and then on another one, runs nowhere else.
TEST_F(LiveSamples, AreOfTheCpuThatTheThreadWasOn) {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            cpus.push_back(cpu);
    Program program("spinner", {"--threads", "1", "--slice-us", "1000", "--seconds", "300"});
    program.wait_ready();
    const auto allow = [&](int cpu) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        for (const auto& task : std::filesystem::directory_iterator(
                 "/proc/" + std::to_string(program.pid()) + "/task"))
            ASSERT_EQ(sched_setaffinity(std::stoi(task.path().filename()), sizeof one, &one), 0);
    };
    const auto spent = [&] {
        program.signal(SIGUSR1);
        return program.account()["threads"][0]["hot"]["cpu_ns"].get<double>();
    };
    LiveAuger auger({"-p", std::to_string(program.pid())});
    std::map<int, double> truth;
    std::set<std::string> labels;
    allow(cpus.front());
    auger.run({"sample 4999"});
    for (const int cpu : {cpus.front(), cpus.back()}) {
        allow(cpu);
        labels.insert("cpu " + std::to_string(cpu));
        const double before = spent();
        EXPECT_TRUE(wait_until([&] {
            auger.run({"wait 100ms"});
            return spent() - before > 200e6;
        }));
        truth[cpu] += spent() - before;
    }
    auger.run({"sample off"});
    const json flame = auger.ask("flame by cpu");
    EXPECT_EQ(labels_of(flame), labels);
    // It is sampled a little before and after each of them, for as long as a command takes.
    for (const auto& [cpu, ns] : truth)
        EXPECT_GE(cpu_ns_of(flame, "cpu " + std::to_string(cpu), "hot"),
                  ns * (0.95 - 5 / std::sqrt(ns / 1e9 * hz)) - 2e6);
    program.signal(SIGTERM);
}

TEST_F(LiveSamples, WhoEndsAWaitIsNamed) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"time serve", "sample wall wakers 997"});
    see_all(auger, shop);
    std::set<std::string> wakers;
    const json flame = auger.ask("flame by comm");
    for (const json& entry : flame["stacks"]) {
        const std::string stack = entry["stack"].dump();
        if (stack.find("\"porter\"") == stack.npos || stack.find("\"[woken by ") == stack.npos)
            continue;
        // The bell, and nothing else; but its first call of a function may find another thread
        // changing the memory map (a page fault, or memory for its own use).
        if (stack.find("\"rwsem_down_") != stack.npos)
            continue;
        EXPECT_THAT(stack, HasSubstr("\"await_bell\""));
        EXPECT_THAT(stack, HasSubstr("\"ring\""));
        const size_t at = stack.find("[woken by ") + 10;
        wakers.insert(stack.substr(at, stack.find(']', at) - at));
    }
    EXPECT_THAT(wakers,
                testing::AnyOf(std::set<std::string>{"clerk-0", "clerk-1"},
                               std::set<std::string>{"clerk-0"}, std::set<std::string>{"clerk-1"}));
    EXPECT_EQ(auger.ask("status")["checks"]["samples"], true);
}

// The store has room for so many; what left it is counted.
TEST_F(LiveSamples, TheStoreHoldsAsManyAsItWasGiven) {
    Shop shop;
    LiveAuger auger({"--store-samples", "1000", "-p", shop.pid()});
    auger.run({"time serve", "sample 9999"});
    see_all(auger, shop);
    auger.run({"sample off"});
    const json status = auger.ask("status");
    EXPECT_EQ(status["kept"], 1000);
    EXPECT_EQ(status["evicted"].get<uint64_t>() + 1000, status["samples"].get<uint64_t>());
}

// Names alone take more than that: as few samples are kept as there may be.
TEST_F(LiveSamples, TheStoreTakesNoMoreMemoryThanItWasGiven) {
    Shop shop;
    LiveAuger auger({"--store-memory", "1M", "-p", shop.pid()});
    auger.run({"time serve", "sample 49999"});
    see_all(auger, shop);
    auger.run({"sample off"});
    const json status = auger.ask("status");
    EXPECT_GE(status["kept"], 1000);
    EXPECT_LT(status["kept"], status["samples"]);
    EXPECT_EQ(status["evicted"].get<uint64_t>() + status["kept"].get<uint64_t>(),
              status["samples"].get<uint64_t>());
    EXPECT_EQ(status["store"]["capacity"], status["kept"]);
}

TEST_F(LiveSamples, AreExportedInEveryForm) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"time serve", "slow search > 1ms", "split serve > 3ms", "sample 4999"});
    see_all(auger, shop);
    auger.run({"sample off"});
    const json flame = auger.ask("flame");
    const auto save = [&](const std::string& name) {
        auger.run({"save " + folder_.path(name)});
        return text_of(folder_.path(name));
    };
    const double samples = samples_of(flame);
    double sum = 0;
    std::istringstream collapsed(save("a.folded"));
    for (std::string line; std::getline(collapsed, line);)
        if (!line.starts_with('#'))
            sum += std::stod(line.substr(line.rfind(' ') + 1));
    EXPECT_EQ(sum, samples);
    const std::string perf = save("a.perf");
    double events = 0;
    for (size_t at = 0; (at = perf.find(" cpu:\n", at)) != perf.npos; at++)
        events++;
    EXPECT_EQ(events, samples);
    EXPECT_THAT(perf, HasSubstr(" search ("));
    save("a.pb.gz");
    const Outcome unpacked = test::run({"/bin/gzip", "-dc", folder_.path("a.pb.gz")});
    EXPECT_EQ(unpacked.code, 0);
    EXPECT_THAT(unpacked.out, HasSubstr("search"));
    const OtlpReader otlp(save("a.otlp"));
    std::map<std::string, std::string> services; // by process
    double counted_samples = 0;
    for (const ReadResource& resource : otlp.resources) {
        services[resource.attributes.at("process.pid")] = resource.attributes.at("service.name");
        for (const ReadSample& one : resource.profile("samples/count").samples)
            counted_samples += static_cast<double>(one.value);
    }
    EXPECT_EQ(services[shop.pid()], "shop");
    EXPECT_EQ(counted_samples, samples);
    EXPECT_THAT(otlp.strings, Contains("search"));
    const json speedscope = json::parse(save("a.speedscope.json"));
    double weight = 0, cpu = 0;
    for (const json& one : speedscope["profiles"][0]["weights"])
        weight += one.get<double>();
    for (const json& entry : flame["stacks"])
        cpu += entry["weight"].get<double>();
    EXPECT_NEAR(weight, cpu, static_cast<double>(flame["stacks"].size()));
    EXPECT_THAT(save("a.html"), HasSubstr("\"search\""));
    EXPECT_THAT(save("a.svg"), HasSubstr("<title>search "));
    size_t slow = 0;
    const json trace = json::parse(save("a.trace.json"));
    for (const json& event : trace["traceEvents"])
        slow += event.value("cat", "") == "slow";
    EXPECT_EQ(slow, shop.searches());
    const std::string calls = save("a.calls.csv");
    EXPECT_EQ(static_cast<size_t>(std::ranges::count(calls, '\r')), 1 + shop.searches());
    EXPECT_EQ(json::parse(save("a.calls.json"))["calls"].size(), shop.searches());
    uint64_t counted = 0;
    std::istringstream rows(save("a.histogram.csv"));
    for (std::string row; std::getline(rows, row);)
        if (row.starts_with("serve,"))
            counted += std::stoull(row.substr(row.rfind(',', row.rfind(',') - 1) + 1));
    EXPECT_EQ(counted, shop.served());
    const json histograms = json::parse(save("a.histogram.json"));
    EXPECT_EQ(histograms["histograms"].size(), 2u);
    EXPECT_THAT(save("a.prom"),
                HasSubstr(fmt::format(
                    "auger_calls_entered_total{{probe=\"serve\",function=\"serve\"}} {}\n",
                    shop.served())));
}

} // namespace
} // namespace auger::test
