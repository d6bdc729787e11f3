// SPDX-License-Identifier: GPL-3.0-or-later
// What to time, as samples tell: on programs of the usual shapes, of which it is known which
// function does one piece of work.
#include "tests/support/durations.h"
#include "tests/unit/screen_fixture.h"
#include "tests/unit/synthetic_stream.h"
#include "views/json/json_views.h"
#include "views/model/suggestions.h"
#include "views/next_step.h"
#include "views/text/views.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Path = std::vector<std::string>;

class SuggestionsTest : public testing::Test {
  protected:
    void runs(const Path& path, uint32_t tid = 1, uint64_t weight_ms = 1) {
        stream.sample(++now_ * ms, tid, stream.stack(path), {}, weight_ms * ms);
    }
    void waits(const Path& path, uint64_t weight_ms, uint32_t tid = 1) {
        stream.sample(++now_ * ms, tid, stream.stack(path), {}, weight_ms * ms,
                      SampleKind::blocked);
    }
    Suggestions suggestions() const { return suggest_functions(model, 1'000'000); }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const Suggestion& one : suggestions().functions)
            all.emplace_back(model.symbols().name(one.function));
        return all;
    }
    std::string text() const { return to_text(suggest_view(model, {}, suggestions())); }

    Model model;
    SyntheticStream stream{model};

  private:
    uint64_t now_ = 0;
};

TEST_F(SuggestionsTest, OfAThreadPoolTheTask) {
    for (int i = 0; i < 100; i++) {
        const uint32_t tid = 1 + i % 3;
        runs({"c:clone3", "c:start_thread", "worker", "process", "parse"}, tid);
        runs({"c:clone3", "c:start_thread", "worker", "process", "store", "c:memcpy"}, tid, 3);
        waits({"c:clone3", "c:start_thread", "worker", "pop", "c:pthread_cond_wait", "s:futex"}, 20,
              tid);
    }
    EXPECT_THAT(names(), ElementsAre("process"));
    const Suggestion process = suggestions().functions[0];
    EXPECT_EQ(process.cpu_ns, 400.0 * ms);
    EXPECT_EQ(process.blocked_ns, 0);
    EXPECT_EQ(process.returns, 100u); // before each wait, which is the last of its thread
    EXPECT_EQ(suggestions().cpu_ns, 400.0 * ms);
    EXPECT_EQ(next_step(model, suggestions()), "time process");
}

// What a handler waits for is its own time.
TEST_F(SuggestionsTest, OfATaskThatWaitsTheTask) {
    for (int i = 0; i < 100; i++) {
        runs({"main", "serve", "handle", "parse"});
        waits({"main", "serve", "handle", "fetch", "c:recv", "s:recvfrom"}, 30);
        waits({"main", "serve", "c:accept", "s:accept"}, 5);
    }
    EXPECT_THAT(names(), ElementsAre("handle"));
    EXPECT_EQ(suggestions().functions[0].blocked_ns, 3000.0 * ms);
}

// One turn of an event loop holds all that happens in it, and the wait for more.
TEST_F(SuggestionsTest, OfAnEventLoopItsHandlers) {
    const Path loop = {"main", "aeMain", "aeProcessEvents"};
    const auto below = [&](Path rest) {
        Path path = loop;
        path.insert(path.end(), rest.begin(), rest.end());
        return path;
    };
    for (int i = 0; i < 100; i++) {
        runs(below({"readQueryFromClient", "processCommand", "lookup"}), 1, 3);
        runs(below({"handleTimers"}));
        waits(below({"c:epoll_wait", "s:epoll_wait"}), 10);
        runs({"main", "aeMain"});
    }
    EXPECT_THAT(names(), ElementsAre("readQueryFromClient", "handleTimers"));
}

// A callback that the C library calls is the program's; what it comes through is not.
TEST_F(SuggestionsTest, BelowWhatCannotBeTimed) {
    for (int i = 0; i < 100; i++) {
        runs({"main", "sort_all", "c:qsort", "compare"});
        runs({"main", "sort_all"});
        runs({"main", "k:page_fault"});
    }
    EXPECT_THAT(names(), ElementsAre("sort_all"));
    for (int i = 0; i < 1000; i++) {
        runs({"main", "c:bsearch", "compare_keys"});
        runs({"main", "c:bsearch"});
    }
    EXPECT_THAT(names(), ElementsAre("compare_keys", "sort_all"));
}

TEST_F(SuggestionsTest, NothingThatWasNotSeenToReturn) {
    for (int i = 0; i < 500; i++)
        runs({"main", "solve", i % 2 ? "multiply_rows" : "multiply_columns"});
    EXPECT_THAT(names(), ElementsAre("multiply_columns", "multiply_rows"));
    Model other;
    SyntheticStream busy{other};
    for (uint64_t i = 0; i < 500; i++)
        busy.sample(i * ms, 1, busy.stack({"main", "spin"}));
    EXPECT_THAT(suggest_functions(other, 1'000).functions, IsEmpty());
    EXPECT_THAT(to_text(suggest_view(other, {}, suggest_functions(other, 1'000))),
                HasSubstr("In 500 samples no function that can be timed was seen to return."));
}

// Interpreters and walks of trees: a call of such a function is many of its calls.
TEST_F(SuggestionsTest, NoRecursiveFunctions) {
    for (int i = 0; i < 200; i++) {
        runs({"main", "run", "evaluate", "call", "evaluate", "call", "evaluate"});
        runs({"main"});
        runs({"main", "run"});
        runs({"main", "collect"});
    }
    EXPECT_THAT(names(), ElementsAre("run", "collect"));
    for (int i = 0; i < 2000; i++) {
        runs({"main", "evaluate", "call", "evaluate"});
        runs({"main"});
    }
    EXPECT_THAT(names(), testing::Not(testing::Contains("evaluate")));
}

// What Python's functions call can be timed, and what calls them back; they themselves cannot, and
// calls of the loop that executes them are of all of them.
TEST_F(SuggestionsTest, OfPythonWhatItCalls) {
    for (int i = 0; i < 100; i++) {
        runs({"main", "Py_RunMain", "p:serve", "p:handle", "eval", "json_loads"}, 1, 2);
        runs({"main", "Py_RunMain", "p:serve", "eval", "list_sort", "p:key", "eval"});
        runs({"main", "Py_RunMain", "p:serve", "eval"});
        runs({"main", "Py_RunMain"});
    }
    EXPECT_THAT(names(), ElementsAre("json_loads", "list_sort"));
}

// A goroutine that is gone from its thread has not ended.
TEST_F(SuggestionsTest, OfGoWhatGoroutinesCall) {
    for (int i = 0; i < 100; i++) {
        runs({"runtime.goexit", "net/http.(*conn).serve", "main.handle", "main.render"});
        runs({"runtime.mstart", "runtime.schedule"});
        runs({"runtime.goexit", "main.collect", "main.flush"});
    }
    EXPECT_THAT(names(), testing::IsSupersetOf({"main.flush", "main.handle"}));
    EXPECT_THAT(names(), testing::Not(testing::Contains("net/http.(*conn).serve")));
}

// Threads of their own: what one runs between two samples of another says nothing.
TEST_F(SuggestionsTest, ThreadsDoNotEndEachOthersCalls) {
    for (int i = 0; i < 200; i++) {
        runs({"main", "solve"}, 1);
        runs({"main", "draw"}, 2);
    }
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(SuggestionsTest, AskForMoreSamples) {
    EXPECT_THAT(text(), HasSubstr("No samples yet"));
    for (int i = 0; i < 40; i++) {
        runs({"main", "f"});
        runs({"main"});
    }
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_THAT(text(), HasSubstr("Only 80 samples yet"));
}

TEST_F(SuggestionsTest, SayWhatComesNext) {
    for (int i = 0; i < 100; i++) {
        runs({"main", "handle", "parse"}, 1, 2);
        runs({"main"});
    }
    EXPECT_THAT(text(), HasSubstr(" 66.7 %    200 ms                 ≥ 100  handle\n"));
    EXPECT_THAT(text(), HasSubstr("next: time handle\n"));
    const SpecId handle = stream.probe(1, "handle");
    stream.stats(300 * ms, handle, {2 * ms, 2 * ms, 30 * ms});
    EXPECT_THAT(text(), HasSubstr("handle  (timed, p99 30.0 ms)\n"));
    model.on_exit_changed(handle, ObservedExit::parse("ret, without its tail"));
    EXPECT_THAT(text(), HasSubstr("handle  (timed, without its tail)\n"));
    model.on_exit_changed(handle, ObservedExit::parse("ret"));
    EXPECT_THAT(text(), HasSubstr("next: split handle > p95\n"));
    const auto json = nlohmann::json::parse(suggest_json(model, suggestions()));
    EXPECT_EQ(json["samples"], 200);
    EXPECT_EQ(json["functions"][0]["function"], "handle");
    EXPECT_EQ(json["functions"][0]["cpu"], 200 * ms);
    EXPECT_EQ(json["functions"][0]["returns"], 100);
    EXPECT_EQ(json["functions"][0]["probe"], "handle");
    EXPECT_EQ(json["next"], "split handle > p95");
    stream.split(1, stream.percentile(95));
    EXPECT_EQ(next_step(model, suggestions()), "diff slow fast");
}

TEST_F(SuggestionsTest, LookAtTheLastSamplesOnly) {
    for (int i = 0; i < 1000; i++) {
        runs({"main", "load"});
        runs({"main"});
    }
    for (int i = 0; i < 100; i++) {
        runs({"main", "serve"});
        runs({"main"});
    }
    EXPECT_EQ(suggest_functions(model, 150).samples, 150u);
    ASSERT_EQ(suggest_functions(model, 150).functions.size(), 1u);
    EXPECT_EQ(model.symbols().name(suggest_functions(model, 150).functions[0].function), "serve");
}

// The live view names it, and one key does it, wherever the cursor is.
TEST(ScreenSuggestions, OneKeyTimesWhatIsSuggested) {
    ScreenFixture fixture;
    for (uint64_t i = 1; i <= 400; i++) {
        fixture.stream.sample(i * ms, 1, fixture.stream.stack({"main", "work", "handle", "parse"}));
        fixture.stream.sample(i * ms, 1, fixture.stream.stack({"main", "work", "pop"}), {}, 20 * ms,
                              SampleKind::blocked);
    }
    fixture.model.on_time(2'000 * ms);
    fixture.refresh();
    EXPECT_THAT(fixture.drawn(100, 30), HasSubstr("T times handle, which does the work"));
    EXPECT_EQ(fixture.command_of('T'), "time handle");
    // The cursor is there, so the next key is about it.
    fixture.time_handle();
    fixture.refresh();
    EXPECT_THAT(fixture.drawn(100, 30), HasSubstr("s splits by its p95"));
}

TEST(ScreenSuggestions, RequestsOfAKnownProgramComeFirst) {
    ScreenFixture fixture;
    fixture.stream.sample(ms, 1, fixture.stream.stack({"main", "handle"}));
    fixture.model.on_time(2'000 * ms);
    fixture.state.spans_of = "nginx";
    fixture.refresh();
    EXPECT_THAT(fixture.drawn(100, 30), HasSubstr("T times whole requests of nginx"));
    EXPECT_EQ(fixture.command_of('T'), "span auto");
}

// How hosts are; most are well most of the time, so the others are named.
TEST(Screen, SaysWhichHostsAreNotLive) {
    ScreenFixture fixture;
    const auto line = [&](std::vector<HostReport::State> states) {
        fixture.state.hosts.clear();
        for (const HostReport::State state : states) {
            HostReport host;
            host.name = "web" + std::to_string(fixture.state.hosts.size() + 1);
            host.state = state;
            fixture.state.hosts.push_back(host);
        }
        fixture.refresh();
        const std::string text = fixture.drawn(100, 30);
        return text.substr(0, text.find('\n'));
    };
    using enum HostReport::State;
    EXPECT_THAT(line({}), Not(HasSubstr("host")));
    EXPECT_THAT(line({live}), HasSubstr("service  1 host  "));
    EXPECT_THAT(line({live, live, live}), HasSubstr("service  3 hosts  "));
    EXPECT_THAT(line({live, lost, live}), HasSubstr("service  2 of 3 hosts: web2 lost  "));
    EXPECT_THAT(line({stale, lost, joining, starting, live}),
                HasSubstr("service  1 of 5 hosts: web1 stale, web2 lost, 2 more  "));
}

class ScreenLoops : public testing::Test {
  protected:
    ScreenLoops() {
        for (uint64_t i = 1; i <= 400; i++) {
            fixture.stream.sample(i * ms, 1, fixture.stream.stack({"main", "cycle", "handle"}));
            fixture.stream.sample(i * ms, 1,
                                  fixture.stream.stack({"main", "cycle", "c:epoll_wait", wait_}),
                                  {}, 20 * ms, SampleKind::blocked);
        }
        fixture.model.on_time(2'000 * ms);
        fixture.refresh();
    }
    // At the function, by a search.
    void go_to(const std::string& function) {
        fixture.type("/" + function);
        fixture.press(Key::Code::enter);
    }

    std::string entered() {
        const auto requests = fixture.press(Key::Code::enter);
        return requests.size() == 1 ? requests[0].line : "(no command)";
    }

    std::string wait_ = "s:epoll_wait";
    ScreenFixture fixture;
};

TEST_F(ScreenLoops, AreKnownByTheirWaits) {
    std::vector<std::string> loops;
    for (const FunctionId loop : suggest_functions(fixture.model, 1'000'000).loops)
        loops.emplace_back(fixture.model.symbols().name(loop));
    EXPECT_THAT(loops, testing::UnorderedElementsAre("main", "cycle", "epoll_wait"));
}

// Timing one says nothing of requests: the span that does is typed, to be entered.
TEST_F(ScreenLoops, AreAskedForTheirRequests) {
    go_to("cycle");
    EXPECT_THAT(fixture.press('t'), IsEmpty());
    EXPECT_THAT(fixture.drawn(100, 30),
                AllOf(HasSubstr("cycle is part of an event loop, where requests are interleaved"),
                      HasSubstr(":span requests exchanges")));
    EXPECT_EQ(entered(), "span requests exchanges");
}

TEST_F(ScreenLoops, OfKnownProgramsHaveSpansOfTheirOwn) {
    fixture.state.spans_of = "nginx";
    fixture.refresh();
    go_to("cycle");
    EXPECT_THAT(fixture.press('t'), IsEmpty());
    EXPECT_EQ(entered(), "span auto");
}

TEST_F(ScreenLoops, AreTimedWhenThatIsMeant) {
    go_to("cycle");
    EXPECT_THAT(fixture.press('t'), IsEmpty());
    fixture.press(Key::Code::escape);
    EXPECT_EQ(fixture.command_of('t'), "time cycle");
    go_to("handle");
    EXPECT_EQ(fixture.command_of('t'), "time handle");
}

} // namespace
} // namespace auger
