// SPDX-License-Identifier: GPL-3.0-or-later
// Commands about calls, on a program that counts and times them itself.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"
#include "tests/kernel/source_lines.h"

#include <fmt/format.h>

#include <cmath>
#include <csignal>

namespace auger::test {
namespace {

using testing::HasSubstr;

class LiveCalls : public LiveTest {};

TEST_F(LiveCalls, AreCountedAndTimedAsTheProgramDoes) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run(
        {"time serve", "slow search > 1ms show off", "time ring", "time await_bell", "time watch"});
    see_all(auger, shop);
    const json& account = shop.account;

    std::set<std::string> probes;
    for (const json& probe : auger.all("probes"))
        probes.insert(probe["spec"]);
    EXPECT_EQ(probes, (std::set<std::string>{"serve", "search", "ring", "await_bell", "watch"}));

    const json serve = auger.ask("hist serve");
    EXPECT_EQ(serve["count"], shop.served());
    uint64_t longest_inside = 0, longest_around = 0;
    for (const char* of : {"plain", "difficult", "apprentice"}) {
        longest_inside = std::max<uint64_t>(longest_inside, account[of]["longest_inside_ns"]);
        longest_around = std::max<uint64_t>(longest_around, account[of]["longest_around_ns"]);
    }
    // The slow search within is traced. What that takes (a walk and a record, some 10 us) is taken
    // out of the durations around it, but not out of the program's.
    EXPECT_GE(serve["max"].get<uint64_t>() + 100'000, longest_inside);
    EXPECT_LE(serve["max"], longest_around);
    EXPECT_EQ(auger.ask("hist search")["count"], shop.searches());
    EXPECT_EQ(auger.ask("hist ring")["count"], account["rings"]);
    auger.run({"assert calls ring == " + account["rings"].dump(), "assert open watch == 1",
               "assert unwound serve == 0"});

    // Every search takes 6 ms of CPU, so each is slow.
    const std::vector<json> calls = auger.all("calls search");
    ASSERT_EQ(calls.size(), shop.searches());
    uint64_t sum = 0;
    for (const json& call : calls) {
        sum += call["duration"].get<uint64_t>();
        EXPECT_EQ(call["stack"][0], "search");
        EXPECT_EQ(call["stack"][1], "serve");
    }
    EXPECT_GE(sum, account["search"]["inside_ns"]);
    EXPECT_LE(sum, account["search"]["around_ns"]);
    EXPECT_EQ(auger.all("calls search -n 3").size(), 3u);
    auger.run({"threshold search 1h"});

    // The watchman never comes back.
    std::map<std::string, json> open;
    for (const json& call : auger.all("open"))
        open[call["probe"]] = call;
    ASSERT_TRUE(open.contains("watch"));
    EXPECT_EQ(open["watch"]["comm"], "watchman");
    EXPECT_THAT(open["watch"]["stack"].dump(), HasSubstr("\"watch\",\"watchman\""));
    ASSERT_TRUE(open.contains("await_bell"));
    EXPECT_EQ(open["await_bell"]["comm"], "porter");
    EXPECT_EQ(open["await_bell"]["wait"].get<std::string>().substr(0, 5), "read(");
    EXPECT_EQ(open.size(), 2u);

    const json sites = auger.ask("sites search");
    ASSERT_EQ(sites["sites"].size(), 1u);
    EXPECT_EQ(sites["sites"][0]["caller"], "serve");
    EXPECT_EQ("shop.c:" + sites["sites"][0]["line"].dump(),
              marked_line("shop.c", "BRANCH difficult"));
}

// fn_NNNN of 1,000 functions is called NNNN % 7 + 1 times a round.
TEST_F(LiveCalls, OfAGlobAreAFunctionsOwn) {
    constexpr int rounds = 20;
    Program program("many_functions", {"--calls", std::to_string(rounds), "--wait", "--linger"});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid())});
    auger.run(
        {"overhead off", "time 'libmany_functions:fn_*'", "time 'libmany_functions:fn_0001'"});
    program.go();
    const json account = program.account();
    auger.run({"wait until calls 1 >= " + account["calls"].dump() + " for 60s"});
    const json table = auger.ask("functions 1 sort calls");
    ASSERT_EQ(table["functions"].size(), 1'000u);
    uint64_t calls = 0, total = 0;
    for (const json& row : table["functions"]) {
        const int number = std::stoi(row["function"].get<std::string>().substr(3));
        EXPECT_EQ(row["count"], rounds * (number % 7 + 1)) << row;
        EXPECT_EQ(row["entries"], row["count"]);
        EXPECT_NEAR(row["mean"].get<double>() * row["count"].get<double>(),
                    row["total"].get<double>(), row["count"].get<double>());
        EXPECT_LE(row["min"], row["p50"]);
        EXPECT_LE(row["p50"], row["p95"]);
        EXPECT_LE(row["p95"], row["p99"]);
        EXPECT_LE(row["p99"], row["max"]);
        calls += row["count"].get<uint64_t>();
        total += row["total"].get<uint64_t>();
    }
    EXPECT_EQ(calls, account["calls"]);
    // The probe's own histogram is made of the same.
    const json all = auger.ask("hist 1");
    EXPECT_EQ(all["count"], calls);
    EXPECT_GT(total, all["min"].get<uint64_t>() * calls);
    EXPECT_LT(total, all["max"].get<uint64_t>() * calls);
    for (const char* column : {"total", "mean", "p50", "p95", "p99", "max"}) {
        const json sorted = auger.ask(fmt::format("functions 1 sort {} -n 50", column));
        ASSERT_EQ(sorted["functions"].size(), 50u);
        EXPECT_TRUE(
            std::ranges::is_sorted(sorted["functions"], std::ranges::greater{},
                                   [&](const json& row) { return row[column].get<double>(); }))
            << column;
    }
    // Of all probes; one function may be in two.
    EXPECT_EQ(auger.ask("functions")["functions"].size(), 1'001u);
    EXPECT_EQ(auger.ask("functions 2")["functions"][0]["count"], 2 * rounds);
    program.go();
}

TEST_F(LiveCalls, DeletedOnesAreDetachedAndUndoBringsThemBack) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.ask("target");
    const auto links = [&] { return BpfObjects::held_by(auger.pid()).links; };
    const std::set<uint32_t> none = links();
    auger.run({"time serve", "time ring"});
    const std::set<uint32_t> both = links();
    EXPECT_GT(both.size(), none.size());
    auger.run({"delete ring"});
    EXPECT_TRUE(wait_until([&] { return links().size() < both.size(); }));
    auger.run({"delete serve"});
    EXPECT_TRUE(wait_until([&] { return links() == none; }));
    EXPECT_EQ(auger.all("probes").size(), 0u);
    EXPECT_EQ(auger.ask("undo")["undone"], "delete serve");
    EXPECT_GT(links().size(), none.size());
    see_all(auger, shop);
    EXPECT_EQ(auger.ask("hist serve")["count"], shop.served());
    auger.run({"target off"});
    EXPECT_EQ(auger.ask("target")["processes"].size(), 0u);
    EXPECT_TRUE(wait_until([&] { return links() == none; }));
}

TEST_F(LiveCalls, AreSplitByBranchAndValue) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    const std::string line = marked_line("shop.c", "BRANCH difficult");
    auger.run({"split serve > 3ms at " + line + " by kind", "sample 4999"});
    see_all(auger, shop);
    // Of the apprentice's customers every tenth is difficult, too.
    const uint64_t taken = shop.difficult() + shop.apprentices() / 10;
    auger.run({"assert taken serve == " + std::to_string(taken),
               "assert not-taken serve == " + std::to_string(shop.served() - taken)});
    const json flame = auger.ask("flame"), searching = auger.ask("flame taken"),
               plain = auger.ask("flame not-taken"), slow = auger.ask("flame slow");
    EXPECT_GT(cpu_ns_in(flame, "search"), 0);
    EXPECT_EQ(cpu_ns_in(searching, "search"), cpu_ns_in(flame, "search"));
    EXPECT_EQ(cpu_ns_in(plain, "search"), 0);
    EXPECT_EQ(cpu_ns_in(slow, "search"), cpu_ns_in(flame, "search"));
    // The values say the same as the branch.
    std::set<std::string> labels;
    for (const json& label : flame["labels"]["classes"])
        labels.insert(label["class"]);
    EXPECT_EQ(labels, (std::set<std::string>{"=DIFFICULT (1)", "=PLAIN (0)"}));
    EXPECT_EQ(cpu_ns_in(auger.ask("flame =DIFFICULT"), "search"), cpu_ns_in(flame, "search"));
    EXPECT_THAT(auger.ask("diff taken not-taken").dump(), HasSubstr("\"search\""));
    EXPECT_THAT(auger.ask("diff").dump(), HasSubstr("\"search\""));
    // By the time that had elapsed, a slow call is fast in its first 3 ms, of which the program
    // knows how much it searched in them. Of n samples' worth of time five standard deviations are
    // 5 / sqrt(n) of it.
    auger.run({"split serve > 3ms so-far"});
    EXPECT_EQ(auger.ask("status")["split"]["so_far"], true);
    const double soon = cpu_ns_in(auger.ask("flame fast"), "search");
    const double least = shop.account["soon"]["least_ns"], most = shop.account["soon"]["most_ns"];
    const auto deviations = [](double ns) { return 5 * std::sqrt(ns * 1e9 / 4999); };
    EXPECT_GE(soon, 0.95 * least - deviations(least));
    EXPECT_LE(soon, 1.05 * most + deviations(most));
    EXPECT_EQ(soon + cpu_ns_in(auger.ask("flame slow"), "search"), cpu_ns_in(flame, "search"));
    // By how long it took in the end, it is slow from its beginning.
    auger.run({"split serve > 3ms"});
    EXPECT_EQ(auger.ask("status")["split"]["so_far"], false);
    EXPECT_EQ(cpu_ns_in(auger.ask("flame fast"), "search"), 0);
    auger.run({"unsplit"});
    EXPECT_TRUE(auger.ask("status")["split"].is_null());
}

TEST_F(LiveCalls, AreKeptByConditions) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"time serve", "only serve if kind == 1", "time search"});
    see_all(auger, shop);
    const uint64_t difficult = shop.difficult() + shop.apprentices() / 10;
    const json serve = auger.ask("hist serve");
    EXPECT_EQ(serve["count"], difficult);
    EXPECT_EQ(serve["filtered"], shop.served() - difficult);
    for (const json& probe : auger.all("probes"))
        EXPECT_EQ(probe["calls"], probe["spec"] == "serve" ? difficult : shop.searches());
    EXPECT_EQ(auger.ask("hist search")["count"], shop.searches());
}

// Among all functions those are found, and timed, that matter: that which sleeps is the innermost
// that has the time of `lookup` and `disk`. How much it is of the variance, others on the machine
// decide, too: tests/kernel/explained_test.cpp compares that with the program's own clock.
TEST_F(LiveCalls, AreExplainedByWhatIsPickedFromSamples) {
    Program program("parts", {"--seconds", "0", "--unit-us", "10"});
    program.wait_ready();
    const std::string recording = folder_.path("parts.auger");
    const auto sleeping = [](const json& table) {
        for (const json& part : table["functions"])
            if (part.value("function", "") == "truth_sleep_us")
                return part;
        return json();
    };
    json table;
    {
        LiveAuger auger({"-p", std::to_string(program.pid())});
        auger.run({"overhead off", "sample wall 1999", "time handle", "record '" + recording + "'",
                   "wait until calls handle >= 500"});
        const json begun = auger.ask("explain handle");
        EXPECT_THAT(begun["picked"].dump(), HasSubstr("\"truth_sleep_us\""));
        auger.run({"wait until calls truth_sleep_us >= 30"});
        table = auger.ask("explain");
        EXPECT_EQ(table["probe"], "handle");
        EXPECT_GE(table["calls"], 30);
        EXPECT_GT(sleeping(table)["calls"], 0) << table.dump(1);
        EXPECT_LT(sleeping(table)["calls"], 1);
        EXPECT_GT(sleeping(table)["variance_share"], 0);
        EXPECT_EQ(table["states"].size(), 3u);
        for (const char* of : {"functions", "states"}) {
            double variance = 0, duration = 0;
            for (const json& part : table[of]) {
                variance += part["variance_share"].get<double>();
                duration += part["duration_share"].get<double>();
            }
            EXPECT_NEAR(variance, 1, 1e-6) << of;
            EXPECT_NEAR(duration, 1, 1e-6) << of;
        }
        auger.run({"record off", "undo", "undo"});
        std::set<std::string> probes;
        for (const json& probe : auger.all("probes"))
            probes.insert(probe["spec"]);
        EXPECT_EQ(probes, std::set<std::string>{"handle"}) << "what was picked is undone with it";
    }
    const Outcome replayed =
        test::auger({"--batch", "--replay", recording, "--json", "-e", "explain handle"});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    const size_t last = replayed.out.rfind('\n', replayed.out.size() - 2) + 1;
    const json again = json::parse(replayed.out.substr(last));
    EXPECT_GE(again["calls"], table["calls"]);
    EXPECT_GT(sleeping(again)["calls"], 0);
    program.signal(SIGTERM);
}

TEST_F(LiveCalls, AreOfTheThreadsThatTheFilterNames) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"filter comm clerk-0", "time serve"});
    shop.open();
    shop.close();
    auger.run({"wait until calls serve >= 100 for 60s"});
    EXPECT_EQ(auger.ask("hist serve")["count"], Shop::rounds);
    EXPECT_THAT(auger.ask("filter").dump(), HasSubstr("clerk-0"));
}

// Whatever way calls are seen end, and probes are attached, they are the same calls.
class LiveWays : public LiveTest,
                 public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(LiveWays, CountTheSame) {
    const auto [exit, attach] = GetParam();
    Shop shop;
    LiveAuger auger({"--exit", exit, "--attach", attach, "-p", shop.pid()});
    auger.run({std::string("exit ") + exit, "time serve", "time search"});
    see_all(auger, shop);
    EXPECT_EQ(auger.ask("hist serve")["count"], shop.served());
    EXPECT_EQ(auger.ask("hist search")["count"], shop.searches());
}

INSTANTIATE_TEST_SUITE_P(Options, LiveWays,
                         testing::Values(std::pair{"ret", "multi"}, std::pair{"ret", "perf"},
                                         std::pair{"cheap", "multi"}, std::pair{"cheap", "perf"},
                                         std::pair{"trampoline", "auto"},
                                         std::pair{"auto", "auto"}));

// Targets by name, and everything.
class LiveTargets : public LiveTest,
                    public testing::WithParamInterface<std::vector<const char*>> {};

TEST_P(LiveTargets, FindTheProgram) {
    Shop shop;
    const std::vector<const char*>& options = GetParam();
    LiveAuger auger(std::vector<std::string>(options.begin(), options.end()));
    if (options.empty())
        auger.run({"target -a"});
    auger.run({"time '" + program_path("shop") + ":serve'"});
    see_all(auger, shop, "'" + program_path("shop") + ":serve'");
    EXPECT_EQ(auger.all("hist 1").at(0)["count"], shop.served());
}

INSTANTIATE_TEST_SUITE_P(Options, LiveTargets,
                         testing::Values(std::vector<const char*>{"-n", "shop"},
                                         std::vector<const char*>{"-n", "shop", "--user", "root"},
                                         std::vector<const char*>{"-n", "shop", "--cgroup", "/"},
                                         std::vector<const char*>{"-a"},
                                         std::vector<const char*>{}));

} // namespace
} // namespace auger::test
