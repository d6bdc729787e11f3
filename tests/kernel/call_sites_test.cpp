// SPDX-License-Identifier: GPL-3.0-or-later
// Call sites beside each other, beside probes of the function itself, and what is said of them.
// That each is counted exactly is tested in accounting_test.cpp.
#include "tests/kernel/program.h"
#include "tests/kernel/ways.h"
#include "tests/support/run.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

namespace auger::test {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;

constexpr const char* rounds = "50";

// The program's account of an earlier run says on which lines its sites stand.
struct Lines {
    nlohmann::json functions;

    Lines() {
        Program rehearsal("call_sites", {"--calls", "1"});
        functions = rehearsal.account().at("functions");
        rehearsal.wait_exit();
    }
    // The site that is passed so often in one round (they all differ, but for the callee).
    std::string site(const std::string& callee, uint64_t entries) const {
        for (const auto& [name, counts] : functions.items())
            if (name.starts_with(callee + "@call_sites.c") && counts["entries"] == entries)
                return name;
        return "none";
    }
};

class CallSites : public WaysTest<LiveOptions::Attach> {};

TEST_P(CallSites, TwoCallsOfOneLineAreTwoPlaces) {
    const std::string macro = Lines().site("work", 2);
    Program program("call_sites", {"--calls", rounds, "--wait"});
    program.wait_ready();
    Session session({GetParam()});
    session.observe(program.pid());
    session.time(macro);
    ASSERT_EQ(session.report.places.size(), 2u);
    EXPECT_THAT(session.report.notes, Contains(HasSubstr("2 call instructions")));
    const auto places = session.report.places;
    program.go();
    session.pump_to_end();
    for (const ProbePlace& place : places) {
        EXPECT_EQ(session.calls(place.spec).returns, 50u);
        // Nothing is attached to the function itself, so its other callers pay nothing.
        EXPECT_TRUE(place.module.ends_with("/call_sites")) << place.module;
    }
    EXPECT_TRUE(program.account()["ok"].get<bool>());
}

// Three probes on one call instruction, and one on the function that it calls.
TEST_P(CallSites, ProbesOfOneCallDoNotDisturbEachOther) {
    const Lines lines;
    Program program("call_sites", {"--calls", rounds, "--wait"});
    program.wait_ready();
    Session session({GetParam()});
    session.observe(program.pid());
    std::map<std::string, ProbeId> probes;
    const ProbeId all = session.time("work@*");
    const ProbeId all_again = session.time("libcall_sites:work@*");
    const ProbeId jumps = session.time("may_jump@*");
    const ProbeId function_again = session.time("libcall_sites:work");
    const ProbeId recursive_again = session.time("recursiv*");
    const ProbeId recursive = session.time("recursive");
    for (const auto& [name, counts] : lines.functions.items())
        probes[name] = session.time(name);
    program.go();
    session.pump_to_end();
    nlohmann::json account = program.account();
    EXPECT_TRUE(account["ok"].get<bool>()) << account;
    uint64_t sum = 0, jumped = 0;
    for (const auto& [name, truth] : account["functions"].items()) {
        SCOPED_TRACE(name);
        const Calls calls = session.calls(probes.at(name));
        EXPECT_EQ(calls.entries, truth["entries"].get<uint64_t>());
        EXPECT_EQ(calls.returns, truth["returns"].get<uint64_t>());
        EXPECT_EQ(calls.unwound, truth["unwound"].get<uint64_t>());
        if (name.starts_with("work@call_sites.c"))
            sum += truth["entries"].get<uint64_t>();
        if (name.starts_with("may_jump"))
            jumped += truth["unwound"].get<uint64_t>();
    }
    // Calls that the program does not account for: five of `others` in each round.
    sum += 5 * 50;
    for (const ProbeId probe : {all, all_again}) {
        EXPECT_EQ(session.calls(probe).returns, sum);
        EXPECT_EQ(session.calls(probe).unwound, 0u);
    }
    EXPECT_EQ(session.calls(function_again).returns,
              account["functions"]["work"]["returns"].get<uint64_t>());
    EXPECT_EQ(session.calls(function_again).unwound, 0u);
    for (const ProbeId probe : {recursive, recursive_again}) {
        EXPECT_EQ(session.calls(probe).returns, 5u * 50);
        EXPECT_EQ(session.calls(probe).unwound, 0u);
    }
    EXPECT_GT(jumped, 0u);
    EXPECT_EQ(session.calls(jumps).unwound, jumped);
}

// The same program twice, mapped elsewhere each time, and a third one that nobody observes.
// Only call frame information says where its functions are; nobody has their names.
TEST_P(CallSites, InStrippedCodeAreFound) {
    TemporaryFolder folder;
    const std::string path = folder.path("call_sites");
    std::filesystem::copy_file(program_path("call_sites"), path);
    ASSERT_EQ(run({"/usr/bin/strip", path}).code, 0);
    Program program(path, {"--calls", rounds, "--wait"});
    program.wait_ready();
    Session session({GetParam()});
    session.observe(program.pid());
    const ProbeId all = session.time("work@*");
    for (const ProbePlace& place : session.report.places) {
        EXPECT_THAT(place.function, testing::StartsWith("work@call_sites+0x"));
        EXPECT_EQ(place.module, path);
    }
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    uint64_t sum = 5 * 50; // of `others`, which the program does not account for
    for (const auto& [name, truth] : account["functions"].items())
        if (name.starts_with("work@call_sites.c"))
            sum += truth["entries"].get<uint64_t>();
    EXPECT_EQ(session.calls(all).returns, sum);
    EXPECT_EQ(session.calls(all).unwound, 0u);
}

TEST_P(CallSites, CallsThroughPointersInTwoProcesses) {
    Program rehearsal("call_pointers", {"--calls", "1"});
    const nlohmann::json functions = rehearsal.account().at("functions");
    rehearsal.wait_exit();
    Program first("call_pointers", {"--calls", rounds, "--wait"});
    Program second("call_pointers", {"--calls", "70", "--wait"});
    Program other("call_pointers", {"--calls", rounds, "--wait"});
    for (Program* program : {&first, &second, &other})
        program->wait_ready();
    Session session({GetParam()});
    session.observe({first.pid(), second.pid()});
    std::map<std::string, ProbeId> probes;
    std::optional<ProbeId> any;
    std::string line;
    for (const auto& [name, counts] : functions.items()) {
        probes[name] = session.time(name);
        ASSERT_FALSE(session.report.places.empty()) << name;
        for (const ProbePlace& place : session.report.places)
            EXPECT_TRUE(place.kind.starts_with("call through pointer (stepped)+return"))
                << place.kind;
        if (!any && name.starts_with("green@")) {
            line = name.substr(name.find('@'));
            any = session.time("[gr]*e[dn]" + line); // red and green
        }
    }
    for (Program* program : {&first, &second, &other})
        program->go();
    session.pump_to_end();
    const nlohmann::json a = first.account(), b = second.account();
    EXPECT_TRUE(a["ok"].get<bool>() && b["ok"].get<bool>());
    EXPECT_TRUE(other.account()["ok"].get<bool>());
    uint64_t sum = 0;
    for (const auto& [name, probe] : probes) {
        SCOPED_TRACE(name);
        const auto truth = [&](const char* what) {
            return a["functions"][name][what].get<uint64_t>() +
                   b["functions"][name][what].get<uint64_t>();
        };
        const Calls calls = session.calls(probe);
        EXPECT_EQ(calls.entries, truth("entries"));
        EXPECT_EQ(calls.returns, truth("returns"));
        EXPECT_EQ(calls.unwound, truth("unwound"));
        if (name.ends_with(line) && (name.starts_with("red") || name.starts_with("green")))
            sum += truth("entries");
    }
    EXPECT_EQ(session.calls(*any).entries, sum);
    EXPECT_EQ(session.lost("calls through pointers: target unreadable"), 0u);
}

// Where a call goes to another file is asked of the mappings, which another thread changes.
TEST_P(CallSites, CallsThroughPointersWhileMemoryIsMapped) {
    Program rehearsal("call_pointers", {"--calls", "1"});
    const nlohmann::json functions = rehearsal.account().at("functions");
    Program program("call_pointers", {"--calls", "500", "--remap", "--wait"});
    program.wait_ready();
    Session session({GetParam()});
    session.observe(program.pid());
    std::map<std::string, ProbeId> probes;
    for (const auto& [name, counts] : functions.items())
        if (name.starts_with("work@"))
            probes[name] = session.time(name);
    ASSERT_GE(probes.size(), 4u);
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    EXPECT_TRUE(account["ok"].get<bool>()) << account;
    for (const auto& [name, probe] : probes) {
        const Calls calls = session.calls(probe);
        EXPECT_EQ(calls.entries, account["functions"][name]["entries"].get<uint64_t>()) << name;
        EXPECT_EQ(calls.returns, account["functions"][name]["returns"].get<uint64_t>()) << name;
    }
    EXPECT_EQ(session.lost("calls through pointers: target unreadable"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Ways, CallSites,
                         testing::Values(LiveOptions::Attach::multi, LiveOptions::Attach::perf),
                         [](const auto& info) {
                             return std::string(info.param == LiveOptions::Attach::multi ? "multi"
                                                                                         : "perf");
                         });

class CallSite : public KernelTest {};

TEST_F(CallSite, ASlowCallHasTheFunctionOnTopOfItsCaller) {
    Program program("call_sites_no_plt", {"--calls", "5", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.time("work@*", {Threshold::Kind::fixed, 1, 0});
    program.go();
    session.pump_to_end();
    session.backend().settle_symbols(seconds(60));
    std::set<std::string> callers;
    ASSERT_FALSE(session.model().slow_calls().empty());
    for (const SlowCall& call : session.model().slow_calls()) {
        const auto names = session.stack_names(call.stack);
        ASSERT_GE(names.size(), 3u);
        const auto function = std::find(names.begin(), names.end(), "work");
        ASSERT_LT(function - names.begin(), 2) << names[0]; // with what was inlined into it
        callers.insert(function[1]);
    }
    EXPECT_THAT(callers, testing::IsSupersetOf({"plain", "loop", "macro", "inlined", "others"}));
}

TEST_F(CallSite, WhereTheFunctionIsCalledFrom) {
    Program program("call_sites_stripped", {"--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const auger::CallSites found = must(session.backend().find_call_sites("work"));
    std::set<std::string> callers;
    for (const CallSiteInfo& site : found.sites) {
        EXPECT_TRUE(site.file.ends_with("/call_sites.c")) << site.file;
        EXPECT_GT(site.line, 0u);
        EXPECT_EQ(site.function, "work");
        callers.insert(site.caller);
    }
    EXPECT_THAT(callers, testing::UnorderedElementsAre("plain", "loop", "unrolled", "inlines_once",
                                                       "inlines_twice", "macro", "others"));
}

TEST_F(CallSite, WhatCannotBeTimedSaysWhy) {
    Program program("call_sites", {"--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const auto failure = [&](const std::string& text) {
        auto probe = session.try_time(text);
        return probe ? "timed" : probe.error().message();
    };
    const std::string plain = Lines().site("work", 1);
    const auto slow =
        session.try_time(plain.substr(plain.find('@') + 1), {Threshold::Kind::fixed, 1'000'000, 0});
    ASSERT_FALSE(slow);
    EXPECT_THAT(slow.error().message(), HasSubstr("a line is counted, and has no duration"));
    EXPECT_THAT(failure("empty" + plain.substr(plain.find('@'))),
                HasSubstr("has no call of empty (it is called on line"));
    EXPECT_THAT(failure("work@call_sights.c:1"),
                HasSubstr("did you mean call_sites.c, call_sites.h?"));
    EXPECT_THAT(failure("work@call_sites.c:1"), HasSubstr("no code begins on line 1"));
    EXPECT_THAT(failure("nobody@*"), HasSubstr("nothing in the target calls nobody"));
}

} // namespace
} // namespace auger::test
