// SPDX-License-Identifier: GPL-3.0-or-later
// The session on a fake backend: what each command does and says, plans and their reversal, undo.
#include "tests/unit/repl_fake_backend.h"
#include "tests/unit/synthetic_stream.h"

#include "repl/session/plan.h"
#include "repl/session/unavailable_backend.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace auger {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Session, TimesAndSaysWhatMatched) {
    TestSession test;
    test.run("target 4711");
    const std::string said = test.run("time handle");
    EXPECT_THAT(said, HasSubstr("timing handle (probe 1)\n"));
    EXPECT_THAT(said, HasSubstr("+0x1000  entry+ret"));
    EXPECT_THAT(said, HasSubstr("exit probes: exit instructions"));
    EXPECT_THAT(said, HasSubstr("\"hist 1\" shows its durations"));
    EXPECT_THAT(test.run("time handle"), HasSubstr("handle (probe 1) is timed already"));
    EXPECT_THAT(test.backend.log, ElementsAre("target 1", "add 1 handle"));
}

TEST(Session, SpansAreTimedUnderTheirName) {
    TestSession test;
    test.run("target 4711");
    const std::string said = test.run("span request from f key ret to g key arg0");
    EXPECT_THAT(said, HasSubstr("timing request (probe 1) from f key ret to g key arg0\n"));
    EXPECT_THAT(test.run("split request > p95"), HasSubstr("split by request (probe 1) > p95"));
    EXPECT_THAT(test.run("span request from f key ret to g key arg0"),
                HasSubstr("request (probe 1) is timed already"));
    EXPECT_THAT(test.run("span request from f to h"),
                HasSubstr("test.aug:1:6: error: \"request\" is another span already"));
    test.run("time handle");
    EXPECT_THAT(test.run("span handle from f to h"), HasSubstr("\"handle\" is a probe already"));
    test.run("delete request\nundo");
    EXPECT_THAT(test.backend.log,
                ElementsAre("target 1", "add 1 request from f key ret to g key arg0",
                            HasSubstr("split"), "add 2 handle", HasSubstr("split"), "remove 1",
                            "add 3 request from f key ret to g key arg0", HasSubstr("split")));
}

TEST(Session, SpansOfProgramsThatAreKnownAreMadeByThemselves) {
    TestSession test;
    test.run("target 4711");
    EXPECT_THAT(
        test.run("span auto"),
        HasSubstr("test.aug:1:1: error: no program of the target is one that spans are "
                  "known of, and none listens for connections\n    span auto\n    ^~~~~~~~~\n  "
                  "they are known of haproxy, "
                  "mariadbd, nginx, postgres, redis-server, and of programs that mark them with "
                  "auger.h"));
    test.backend.process_name = "nginx";
    EXPECT_THAT(
        test.run("span auto"),
        HasSubstr("timing request (probe 1) from ngx_http_create_request if ret != 0 key ret "));
    EXPECT_THAT(test.session.settings().probes.at(0).span.points,
                Contains(testing::Field(&SpanPoint::probe, "epoll_wait")));
    // Each preset is in order.
    for (const char* name : {"haproxy", "mariadbd", "postgres", "redis-server"}) {
        test.backend.process_name = name;
        EXPECT_THAT(test.run("span auto"), HasSubstr("timing ")) << name;
    }
}

TEST(Session, CallersAreOfAFunctionThatWasSeen) {
    TestSession test;
    SyntheticStream stream(test.model);
    stream.sample(1'000'000, 1, stream.stack({"main", "handle", "parse"}));
    EXPECT_THAT(test.run("callers parse"), HasSubstr("100.0 %   1.00 ms         1"));
    EXPECT_THAT(test.run("callees prase"),
                HasSubstr("test.aug:1:9: error: no sample had a function \"prase\" on its stack\n"
                          "    callees prase\n"
                          "            ^~~~~\n"
                          "  did you mean \"parse\"?"));
    stream.sample(2'000'000, 1, stream.stack({"main", "k:parse"}));
    EXPECT_THAT(test.run("callers parse"),
                HasSubstr("it could be \"service:parse\", \"[kernel]:parse\""));
    EXPECT_THAT(test.run("callers [kernel]:parse"), HasSubstr("main"));
}

TEST(Session, WindowsEndAtMomentsThatWereObserved) {
    TestSession test;
    EXPECT_THAT(test.run("window 1s until 2s"), HasSubstr("nothing has been observed yet"));
    test.model.on_time(1'000'000'000);
    test.model.on_time(21'500'000'000);
    EXPECT_THAT(
        test.run("window 1s until 21s"),
        HasSubstr("test.aug:1:17: error: this moment lies ahead: 20.5s have been observed"));
    EXPECT_THAT(test.run("window 5s until 17.5s\nwindow"),
                HasSubstr("window: last 5.00 s until +17.500 s"));
    EXPECT_EQ(test.session.settings().window,
              (Window{Window::Kind::last, 5'000'000'000, 18'500'000'000}));
    EXPECT_THAT(test.run("undo\nwindow"), HasSubstr("window: all"));
}

TEST(Session, NothingOfTheTargetIsPrintedRaw) {
    TestSession test;
    const std::string said = test.run("target 4711\ntime handle\ntarget\nstatus\nprobes");
    EXPECT_EQ(said.find('\x1b'), std::string::npos);
    EXPECT_EQ(said.find('\t'), std::string::npos);
}

TEST(Session, ProbesThatAreNotThere) {
    TestSession test;
    EXPECT_THAT(test.run("time handle"), HasSubstr("there is no target yet"));
    EXPECT_EQ(test.failure, Error::Kind::failed);
    test.run("target 4711\ntime handle");
    EXPECT_THAT(test.run("echo x; hist hndle"),
                HasSubstr("test.aug:1:14: error: \"hndle\" is not timed\n"
                          "    echo x; hist hndle\n"
                          "                 ^~~~~\n"
                          "  did you mean \"handle\"?\n"));
    EXPECT_THAT(test.run("hist 7"), HasSubstr("there is no probe 7"));
    EXPECT_THAT(test.run("slow nothing off"), HasSubstr("1:6: error"));
}

TEST(Session, FiltersReplaceTheirOwnKind) {
    TestSession test;
    test.run("target -a\nfilter pid 1 2\nfilter comm a\nfilter pid 3\nfilter pid off\nfilter off");
    EXPECT_THAT(test.backend.log,
                ElementsAre("target 3", "filter 2 0 0 0", "filter 2 0 1 0", "filter 1 0 1 0",
                            "filter 0 0 1 0", "filter 0 0 0 0"));
    EXPECT_THAT(test.run("filter tid 5 6\nfilter comm w\nfilter"),
                HasSubstr("filter: tid 5 or 6, and comm w\n"));
}

TEST(Session, DeletedProbesStillShowWhatTheyCollected) {
    TestSession test;
    test.run("target 4711\ntime a\nwait 1s\ndelete a");
    EXPECT_THAT(test.run("hist a"), HasSubstr("1,000 calls"));
    EXPECT_THAT(test.run("hist 1"), HasSubstr("1,000 calls"));
}

TEST(Session, ViewsShowWhatWasCollected) {
    TestSession test;
    test.run("target 4711\nsample\nslow handle > 5ms\nsplit handle > 5ms\nwait 2s");
    EXPECT_THAT(test.run("hist handle"), HasSubstr("2,000 calls"));
    EXPECT_THAT(test.run("flame slow"), HasSubstr("rebuild"));
    EXPECT_THAT(test.run("flame fast"), Not(HasSubstr("rebuild")));
    EXPECT_THAT(test.run("flame slow --folded"), HasSubstr(";handle;rebuild 300\n"));
    EXPECT_THAT(test.run("diff slow fast"), HasSubstr("rebuild"));
    EXPECT_THAT(test.run("top"), HasSubstr("rebuild"));
    EXPECT_THAT(test.run("threads"), HasSubstr("cpu"));
    EXPECT_THAT(test.run("calls handle -n 3"), HasSubstr("100 slow calls"));
    EXPECT_THAT(test.run("probes"), HasSubstr("handle"));
    EXPECT_THAT(test.run("functions"), HasSubstr("2,000"));
    EXPECT_THAT(test.run("functions handle sort p99"), HasSubstr("handle"));
    EXPECT_THAT(test.run("status"), HasSubstr("se\\x1brver"));
    EXPECT_EQ(test.failure, std::nullopt);
}

TEST(Session, RaisedRatesKeepTheRateInForce) {
    TestSession test;
    test.run("target 4711\nsample 99\nsample 4999 only handle > p95");
    EXPECT_EQ(test.backend.log.back(), "sample 99/4999 in 1 clauses");
    EXPECT_EQ(test.session.summary(), "se\\x1brver 4711 99/4999 Hz");
    EXPECT_THAT(test.run("status"), HasSubstr("raised to 4999 only handle > p95"));
    EXPECT_THAT(test.run("sample 99 only in handle"),
                HasSubstr("everything is sampled at 99 Hz already"));
    test.run("sample off\nsample 999 only in handle");
    EXPECT_EQ(test.backend.log.back(), "sample 0/999 in 1 clauses");
    EXPECT_THAT(test.run("delete handle"), HasSubstr("the raised rate, which needs it, has ended"));
    EXPECT_EQ(test.session.settings().sampling, SamplingSettings{});
}

TEST(Session, ErrorsOfTheBackendPointIntoTheLine) {
    TestSession test;
    test.run("target 4711");
    test.backend.failing = {"split", "only"};
    test.backend.failing_subject = "req->tpye == 3";
    test.backend.failing_at = Error::Range{5, 4};
    EXPECT_THAT(test.run("split handle if req->tpye == 3"),
                HasSubstr("test.aug:1:22: error: split req->tpye == 3: refused\n"
                          "    split handle if req->tpye == 3\n"
                          "                         ^~~~\n"));
    test.backend.failing_subject = "main.cc:12";
    test.backend.failing_at.reset();
    EXPECT_THAT(test.run("echo main.cc:12; only at main.cc:12"), HasSubstr("test.aug:1:26: error"));
}

TEST(Session, CallSites) {
    TestSession test;
    test.run("target 4711");
    const std::string said = test.run("sites recv");
    EXPECT_THAT(said, HasSubstr("2 call sites of recv\n"));
    EXPECT_THAT(said, HasSubstr("main.cc:12  ns::parse  (call+return)\n"));
    EXPECT_THAT(said, HasSubstr("tree.cc:7   rebuild  (call+return (stepped))\n"));
    EXPECT_THAT(said, HasSubstr("cannot be timed: it: is a tail call\n"));
    EXPECT_THAT(said, HasSubstr("\"time recv@*\" counts"));
    EXPECT_THAT(test.run("sites recv in tree.*"), HasSubstr("1 call site of recv in tree.*\n"));
    EXPECT_THAT(test.run("sites recv in ns::*"), HasSubstr("main.cc:12"));
    EXPECT_THAT(test.run("sites recv in nowhere"), HasSubstr("0 call sites"));
    test.backend.failing.insert("sites");
    EXPECT_THAT(test.run("sites recv"), HasSubstr("test.aug:1:7: error: sites it: refused"));
}

// Nothing is attached: what it would cost is told.
TEST(Session, DryRun) {
    TestSession test;
    test.run("target 4711");
    const std::string said = test.run("time --dry-run 'ns::*'");
    EXPECT_EQ(test.backend.log.back(), "plan ns::*");
    EXPECT_THAT(said, HasSubstr("ns::* would be timed at 2 places; nothing is attached\n"));
    EXPECT_THAT(said, HasSubstr("        -  1.00 us to 9.00 us    ns::handle  "
                                "/usr/bin/service+0x1200  entry+ret\n"
                                "        -  2.00 us               ns::parse  "
                                "/usr/bin/service+0x1400  entry+ret  (a clone)\n"
                                "  not probed: ns::hand: no safe place\n"));
    EXPECT_THAT(said, HasSubstr("because it can throw\n"));
    EXPECT_THAT(said, HasSubstr("\"sample 99\" first"));
    EXPECT_THAT(test.run("probes"), testing::Not(HasSubstr("ns::")));
    test.backend.failing.insert("plan");
    EXPECT_THAT(test.run("time --dry-run it"), HasSubstr("test.aug:1:16: error: plan it: refused"));
}

// What is planned is set before the command begins, which then misses nothing.
TEST(Session, DryRunStartsNoCommand) {
    SessionOptions options;
    options.batch = true;
    TestSession test(options);
    test.backend.ends_at = 3'000'000'000;
    test.run("target -- ./x");
    EXPECT_THAT(test.run("time --dry-run handle"), HasSubstr("nothing is attached\n"));
    EXPECT_FALSE(test.backend.command_started);
    test.run("time handle");
    EXPECT_THAT(test.run("hist handle"), HasSubstr("2,000 calls"));
}

TEST(Session, UsdtProbes) {
    TestSession test;
    test.run("target 4711");
    const std::string said = test.run("probes usdt");
    EXPECT_EQ(test.backend.log.back(), "usdt *:*");
    EXPECT_THAT(said, HasSubstr("2 USDT probes\n/usr/bin/service\n"
                                "  service:request__start    2 sites  semaphore  8@%rdi -4@%esi\n"
                                "/usr/lib/libother.so.1\n"
                                "  other:tick                1 site\n"));
    EXPECT_THAT(said,
                HasSubstr("cannot be probed: usdt:other:odd in /usr/lib/libother.so.1: there"));
    EXPECT_THAT(said, HasSubstr("\"time usdt:service:request__start\" counts"));
    test.run("probes usdt query*");
    EXPECT_EQ(test.backend.log.back(), "usdt *:query*");
    test.run("probes usdt usdt:libother:other:*");
    EXPECT_EQ(test.backend.log.back(), "usdt libother:other:*");
    EXPECT_THAT(test.run("time usdt:service:request__start"),
                HasSubstr("counting usdt:service:request__start (probe 1)"));
    EXPECT_THAT(test.run("time main.cc:12"), HasSubstr("counting main.cc:12"));
    test.backend.failing.insert("usdt");
    EXPECT_THAT(test.run("probes usdt nix*"), HasSubstr("test.aug:1:13: error: usdt it: refused"));
}

TEST(Session, WhatAllThreadsDoIsAskedForNow) {
    TestSession test;
    EXPECT_THAT(test.run("stacks"), HasSubstr("No thread is there."));
    test.run("target 4711");
    ThreadNow thread;
    thread.thread = {4711, 4712, "worker"};
    thread.wait = "futex";
    test.backend.threads = {thread, thread};
    test.backend.log.clear();
    EXPECT_THAT(test.run("stacks"), HasSubstr("2 threads  worker 4712"));
    EXPECT_THAT(test.run("stacks -n 3 --depth all --native"), HasSubstr("2 threads of 1 process"));
    EXPECT_THAT(test.backend.log, ElementsAre("threads", "threads"));
    EXPECT_THAT(test.run("stacks --depth 0"), HasSubstr("1:16: error: 0 frames show nothing"));
    EXPECT_THAT(test.run("stacks --depth"), HasSubstr("a number of frames, or all"));
    EXPECT_THAT(test.run("stacks --native --language"), HasSubstr("1:17: error"));
    EXPECT_THAT(test.run("stacks handle"), HasSubstr("1:8: error"));
    test.backend.failing = {"threads"};
    EXPECT_THAT(test.run("stacks"), HasSubstr("refused"));
}

TEST(Session, OpenCallsAreAskedForNow) {
    TestSession test;
    test.run("target 4711\ntime handle");
    OpenCall call;
    call.probe = ProbeId{1};
    call.age_ns = 7'000'000;
    call.thread = {4711, 4712, "worker"};
    call.running = true;
    test.backend.running = {call, call};
    test.backend.log.clear();
    EXPECT_THAT(test.run("open"), HasSubstr("7.00 ms  handle  worker 4712"));
    EXPECT_THAT(test.run("open handle -n 1"), HasSubstr("2 open calls, the oldest 1 shown"));
    EXPECT_THAT(test.backend.log, ElementsAre("open", "open 1"));
    EXPECT_THAT(test.run("open nothing"), HasSubstr("1:6: error"));
    EXPECT_THAT(test.run("open -n 0"), HasSubstr("0 rows show nothing"));
    test.backend.failing = {"open"};
    EXPECT_THAT(test.run("open"), HasSubstr("refused"));
    SessionOptions json;
    json.json = true;
    TestSession other(json);
    other.backend.running = {call, call};
    const std::string said = other.run("target 4711\ntime handle\nopen -n 1");
    const size_t at = said.find("\"command\":\"open\"");
    ASSERT_NE(at, said.npos);
    EXPECT_EQ(said.find("\"command\":\"open\"", at + 1), said.npos);
}

TEST(Session, AViewIsWantedWhereThereIsATerminalAndElseRefused) {
    TestSession test, json(as_json());
    EXPECT_THAT(test.run("view"), HasSubstr("error: the view needs a terminal"));
    EXPECT_EQ(test.failure, Error::Kind::failed);
    EXPECT_EQ(test.session.take_view(), std::nullopt);
    test.session.set_view_possible(true);
    test.run("view");
    EXPECT_EQ(test.failure, std::nullopt);
    EXPECT_EQ(test.session.take_view(), "");
    EXPECT_EQ(test.session.take_view(), std::nullopt) << "once";
    test.run("view flame");
    EXPECT_EQ(test.session.take_view(), "flame");
    EXPECT_THAT(test.run("view nothing"), HasSubstr("has no pane \"nothing\""));
    EXPECT_THAT(test.session.complete("view fl").candidates, ElementsAre("flame"));
    json.session.set_view_possible(true);
    EXPECT_THAT(json.run("view"), HasSubstr("--json has none"));
}

TEST(Session, NoticesAreToldOnceAndHarmless) {
    TestSession test;
    test.backend.notice("4711 e\x1bvil: exited");
    test.run("echo x");
    EXPECT_EQ(test.output.notices, "4711 e\\x1bvil: exited\n");
    test.run("echo x");
    EXPECT_EQ(test.output.notices, "4711 e\\x1bvil: exited\n");
}

TEST(Session, RecordingDefinesItsProbes) {
    TestSession test;
    test.backend.is_replay = true;
    test.backend.ends_at = 3'000'000'000;
    test.backend.define(3, "handle");
    test.model.on_split({true, ProbeId{3}, {Threshold::Kind::fixed, 5'000'000, 0}, false});
    // Read to its end before it is looked at, unless the script waits.
    EXPECT_THAT(test.run("hist handle"), HasSubstr("2,000 calls"));
    EXPECT_TRUE(test.session.settings().split.active);
    EXPECT_THAT(test.run("flame slow"), HasSubstr("rebuild"));
    test.run("threshold handle 20ms");
    EXPECT_THAT(test.run("assert samples slow == 0"), HasSubstr("holds"));
    test.run("time other");
    EXPECT_THAT(test.backend.log, Contains("add 4 other"));
}

TEST(Session, RecordingWaitsInItsOwnTime) {
    TestSession test;
    test.backend.is_replay = true;
    test.backend.ends_at = 3'000'000'000;
    test.backend.define(1, "handle");
    test.run("wait 1s");
    EXPECT_THAT(test.run("hist handle"), HasSubstr("1,000 calls"));
    EXPECT_THAT(test.run("wait 10s"), HasSubstr("nothing more will come"));
    EXPECT_THAT(test.run("hist handle"), HasSubstr("2,000 calls"));
}

// Nothing throws; what does so all the same is the failure of one command, which leaves no trace.
TEST(Session, AnExceptionIsAnErrorOfItsCommand) {
    TestSession test;
    test.run("target 4711\ntime handle");
    test.backend.throwing = {"split", "open", "sample 99"};
    EXPECT_THAT(test.run("open"), testing::AllOf(HasSubstr("error: unexpected: planted in ?"),
                                                 HasSubstr("this is a bug in auger")));
    EXPECT_EQ(test.failure, Error::Kind::failed);
    // An edit of several operations goes back.
    EXPECT_THAT(test.run("split recv > p95"), HasSubstr("unexpected: planted"));
    EXPECT_THAT(test.backend.log, testing::Contains("remove 2"));
    EXPECT_EQ(test.session.settings().probes.size(), 1u);
    EXPECT_FALSE(test.session.settings().split.active);
    EXPECT_THAT(test.run("sample 99"), HasSubstr("unexpected: planted"));
    EXPECT_EQ(test.session.settings().sampling.rate_hz, 0u);
    EXPECT_THAT(test.run("sample 199; wait 1s; hist handle"), HasSubstr("1,000 calls"));
    EXPECT_EQ(test.failure, std::nullopt);
}

// A name that is not a function's to probe, but a frame's that was seen.
TEST(Session, TellsWhatAFrameIsThatCannotBeTimed) {
    TestSession test;
    test.run("target 4711\ntime handle\nsample 99\nwait 100ms");
    test.model.on_module(ModuleId{7}, {ModuleKind::jit, "[jit]", ""});
    const LocationId location{static_cast<uint32_t>(test.model.symbols().locations())};
    test.model.on_location(location, {ModuleId{7}, 0x10, false});
    const Frame frame{"py::do_GET:/srv/app.py", "", 0, false};
    test.model.on_frames(location, {&frame, 1});
    test.backend.failing = {"add"};
    EXPECT_THAT(test.run("time do_GET"),
                HasSubstr("the frame of this name is a Python function, which the interpreter "
                          "runs: there is nothing to probe; \"flame under do_GET\""));
    EXPECT_THAT(test.run("time py:app.do_GET"),
                HasSubstr("this is a Python function, which the interpreter runs: there is nothing "
                          "to probe; \"flame in=py:app.do_GET\""));
    EXPECT_THAT(test.run("time rb:other"),
                HasSubstr("rb names functions that a runtime executes: there is nothing to probe; "
                          "once such a function was sampled, \"flame in=rb:other\""));
    // Whether it is a function of C the backend says.
    EXPECT_THAT(test.run("time py:app.other"), testing::Not(HasSubstr("names functions that")));
}

TEST(Session, CompletesProbesAndFunctions) {
    TestSession test;
    test.run("target 4711\ntime zebra");
    EXPECT_THAT(test.session.complete("time ha").candidates, ElementsAre("hand_over", "handle"));
    EXPECT_THAT(test.session.complete("hist ").candidates, ElementsAre("zebra"));
    EXPECT_THAT(test.session.complete("source /et").candidates, ElementsAre("/etc/"));
}

TEST(Session, PromptSaysWhatIsGoingOn) {
    TestSession test;
    EXPECT_EQ(test.session.summary(), "");
    test.run("target 4711\nsample 99\nsplit handle > p95");
    EXPECT_EQ(test.session.summary(), "se\\x1brver 4711 99 Hz handle > p95");
    test.run("target -- /bin/x\x1b");
    EXPECT_EQ(test.session.summary().find('\x1b'), std::string::npos);
}

TEST(Session, WithoutAKernelOnlyWhatNeedsNone) {
    Model model{1000};
    UnavailableBackend backend(
        {"load programs", "", "Operation not permitted", "run as root", Error::Kind::unsupported},
        {});
    TestOutput output;
    TestInterrupts interrupts;
    Session session(backend, model, output, interrupts, command_table(), {});
    const auto run = [&](const std::string& line) { return session.run({{"f", 1, line}}); };
    EXPECT_EQ(run("help; doctor; echo x"), std::nullopt);
    for (const char* line : {"target 1", "sample", "status", "wait 1s", "filter tid 5"})
        EXPECT_EQ(run(line), Error::Kind::unsupported) << line;
    EXPECT_THAT(output.errors, HasSubstr("run as root"));
}

TEST(Session, AProbeIsFoundWithoutItsLibrary) {
    TestSession test;
    test.run("target 4711\ntime libz:deflate\ntime ns::deflate_all\nwait 1s");
    EXPECT_THAT(test.run("hist deflate"), HasSubstr("libz:deflate"));
    EXPECT_THAT(test.run("hist deflate_all"), HasSubstr("ns::deflate_all")); // as gdb takes it
    // There may be a function of just that name, too.
    test.run("slow deflate_all > 5ms");
    EXPECT_EQ(test.session.settings().probes.size(), 3u);
    EXPECT_EQ(test.failure, std::nullopt);
    EXPECT_THAT(test.run("hist inflate"), HasSubstr("\"inflate\" is not timed"));
    test.run("time /usr/lib/libz.so.1:deflate");
    EXPECT_THAT(test.run("hist deflate"),
                HasSubstr("\"deflate\" could be any of 2 probes\n"
                          "    hist deflate\n"
                          "         ^~~~~~~\n"
                          "  one of: libz:deflate, /usr/lib/libz.so.1:deflate"));
}

TEST(Plan, AddsBeforeTheSplitAndRemovesBehindIt) {
    Settings from, to;
    from.target.kind = to.target.kind = TargetSpec::Kind::all;
    from.probes = {{ProbeId{1}, "a", {}}};
    from.split = {true, ProbeId{1}, {Threshold::Kind::percentile, 0, 95}, false};
    from.only.text = "in a";
    to.probes = {{ProbeId{2}, "b", {}}};
    to.split = {true, ProbeId{2}, {Threshold::Kind::percentile, 0, 95}, false};
    to.only.text = "in b";
    to.sampling.raised_hz = 99;
    to.filter.tids = {7};
    const SettingTable table = command_table().settings();
    const auto operations = plan(from, to, table);
    ASSERT_EQ(operations.size(), 6u);
    // What the setting of an operation would save, were it the only one.
    const auto saved = [&](const Operation& operation) {
        std::vector<std::string> lines;
        if (const auto* set = std::get_if<SetSetting>(&operation))
            set->row->spell(to, lines);
        return lines.empty() ? "" : lines.back().substr(0, lines.back().find(' '));
    };
    EXPECT_EQ(saved(operations[0]), "filter");
    EXPECT_TRUE(std::holds_alternative<AddProbe>(operations[1]));
    EXPECT_EQ(saved(operations[2]), "split");
    EXPECT_EQ(saved(operations[3]), "only");
    EXPECT_EQ(saved(operations[4]), "sample");
    EXPECT_TRUE(std::holds_alternative<RemoveProbe>(operations[5]));
    EXPECT_TRUE(plan(from, from, table).empty());
}

// The strip says its end in whole milliseconds, which may be a part of one behind now.
TEST(Session, AWindowMayReachToNow) {
    TestSession test;
    test.model.on_time(1'000'000'000);
    test.model.on_time(1'606'400'000);
    const std::string said = test.run("window 50ms until 607ms");
    EXPECT_EQ(test.failure, std::nullopt) << said;
    EXPECT_EQ(test.session.settings().window.end_ns, 1'606'400'000u);
    EXPECT_THAT(test.run("window 50ms until 608ms"), HasSubstr("this moment lies ahead"));
}

} // namespace
} // namespace auger
