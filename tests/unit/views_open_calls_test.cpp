// SPDX-License-Identifier: GPL-3.0-or-later
// The list of open calls, as text and as JSON.
#include "tests/unit/synthetic_stream.h"
#include "views/json/json_views.h"
#include "views/text/views.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::Not;

class OpenCallsView : public testing::Test {
  protected:
    OpenCallsView() {
        options.unicode = false;
        stream.probe(1, "handle");
        stream.probe(2, "fetch");
        for (const char* name : {"[recvfrom]", "fetch", "handle"})
            stack.push_back(stream.location(name));
    }
    OpenCall call(uint32_t probe, uint64_t age_ns, uint32_t tid, uint32_t depth) {
        OpenCall call;
        call.probe = ProbeId{probe};
        call.age_ns = age_ns;
        call.thread = {100, tid, "work\x1b[2J"};
        call.depth = depth;
        call.wait = "recvfrom(9) unix /tmp/\x1b[1m";
        call.stack = stack;
        return call;
    }
    std::string text(const std::vector<OpenCall>& calls) {
        return to_text(open_calls_view(model, options, calls), ColourMode::none);
    }
    Model model;
    SyntheticStream stream{model};
    std::vector<LocationId> stack;
    ViewOptions options;
};

TEST_F(OpenCallsView, ShowsAgeThreadWaitAndEachStackOnce) {
    const std::string said =
        text({call(1, 2'130'000'000, 7, 0), call(2, 2'000'000'000, 7, 1), call(1, 5'000, 8, 0)});
    EXPECT_THAT(said, HasSubstr("3 open calls"));
    EXPECT_THAT(said, HasSubstr("2.13 s  handle  work\\x1b[2J 7"));
    EXPECT_THAT(said, HasSubstr("2.00 s  fetch  work\\x1b[2J 7  inside 1 other"));
    EXPECT_THAT(said, HasSubstr("waits in recvfrom(9) unix /tmp/\\x1b[1m"));
    EXPECT_THAT(said, Not(HasSubstr("\x1b")));
    size_t stacks = 0;
    for (size_t at = 0; (at = said.find("[recvfrom]", at)) != said.npos; at++)
        stacks++;
    EXPECT_EQ(stacks, 2u); // of two threads
}

TEST_F(OpenCallsView, SaysOfAStoppedThreadThatItIs) {
    OpenCall stopped = call(1, 9'000, 7, 0);
    stopped.wait = "stopped; it went on while its stack was read";
    EXPECT_THAT(text({stopped}), HasSubstr("\n      stopped; it went on"));
}

// So many of the innermost ones, of those that are chosen.
TEST_F(OpenCallsView, ShowsWhichFramesAreAskedFor) {
    stack.clear();
    for (int i = 0; i < 20; i++) {
        stack.push_back(stream.location("P:app.f" + std::to_string(i)));
        stack.push_back(stream.location("eval" + std::to_string(i)));
    }
    const std::vector<OpenCall> calls = {call(1, 9'000, 7, 0)};
    std::string said = text(calls);
    EXPECT_THAT(said, HasSubstr(" eval7 "));
    EXPECT_THAT(said, Not(HasSubstr("app.f8")));
    EXPECT_THAT(said, HasSubstr("(24 more frames)"));
    options.stack = {FrameChoice::language, 18};
    said = text(calls);
    EXPECT_THAT(said, HasSubstr("app.f17 "));
    EXPECT_THAT(said, Not(HasSubstr("app.f18")));
    EXPECT_THAT(said, Not(HasSubstr("eval")));
    EXPECT_THAT(said, HasSubstr("(2 more frames)"));
    auto line = nlohmann::json::parse(open_calls_json(model, calls, options.stack).front());
    EXPECT_EQ(line["stack"].size(), 18u);
    EXPECT_EQ(line["stack"][17], "app.f17");
    EXPECT_EQ(line["source"].size(), 18u);
    options.stack = {FrameChoice::native, 0};
    EXPECT_THAT(text(calls), HasSubstr("eval19 "));
    EXPECT_EQ(nlohmann::json::parse(open_calls_json(model, calls).front())["stack"].size(), 40u);

    stack = {stream.location("eval0")};
    options.stack = {FrameChoice::language, 16};
    EXPECT_THAT(text({call(1, 9'000, 7, 0)}), HasSubstr("(no frame is of a language)"));
}

// Goroutines are no threads, so none is shown in place of another one.
TEST_F(OpenCallsView, ShowsWhereEachGoroutineIsParked) {
    OpenCall one = call(1, 9'000'000, 0, 0), other = call(1, 8'000'000, 0, 0);
    one.thread.comm = other.thread.comm = "goroutine";
    one.no_thread = other.no_thread = true;
    one.wait = "goroutine 0xc000007a00: parked: sleep, for 8.9 ms";
    other.wait = "goroutine 0xc000007c00: on a thread";
    other.stack.clear();
    OpenCall around = one, twin = one;
    around.probe = ProbeId{2};
    twin.thread.pid = 101; // another process's, at the same address
    const std::string said = text({one, other, around, twin});
    EXPECT_THAT(said, HasSubstr("9.00 ms  handle  goroutine 0"));
    EXPECT_THAT(said, HasSubstr("  goroutine 0xc000007a00: parked: sleep, for 8.9 ms\n"
                                "      [recvfrom]  main.cc:10\n"));
    EXPECT_THAT(said, HasSubstr("  goroutine 0xc000007c00: on a thread\n"));
    EXPECT_THAT(said, HasSubstr("(the same goroutine: see above)"));
    size_t stacks = 0;
    for (size_t at = 0; (at = said.find("[recvfrom]", at)) != said.npos; at++)
        stacks++;
    EXPECT_EQ(stacks, 2u);
}

TEST_F(OpenCallsView, SaysWhyThereIsNoStack) {
    OpenCall running = call(1, 1'000, 7, 0);
    running.running = true;
    EXPECT_THAT(text({running}), HasSubstr("running: only the stack of a thread that waits"));
    EXPECT_THAT(text({running}), Not(HasSubstr("[recvfrom]")));
    OpenCall unreadable = call(1, 1'000, 7, 0);
    unreadable.stack.clear();
    EXPECT_THAT(text({unreadable}), HasSubstr("its stack could not be read"));
    EXPECT_THAT(text({}), HasSubstr("No call is running."));
}

// What its task awaits.
TEST_F(OpenCallsView, OfASpanShowsTheStackThatThereIs) {
    OpenCall span = call(1, 1'000, 7, 0);
    span.no_thread = true;
    span.wait = "key 0x10: parked; the task Task-17 of app.handle is suspended";
    EXPECT_THAT(text({span}), HasSubstr("Task-17 of app.handle is suspended"));
    EXPECT_THAT(text({span}), HasSubstr("[recvfrom]"));
    EXPECT_THAT(text({span}), Not(HasSubstr("waits in")));
    span.stack.clear();
    EXPECT_THAT(text({span}), Not(HasSubstr("could not be read")));
}

TEST_F(OpenCallsView, CutsRowsAndSaysSo) {
    options.limit = 1;
    const std::string said = text({call(1, 9'000, 7, 0), call(2, 8'000, 8, 0)});
    EXPECT_THAT(said, HasSubstr("2 open calls, the oldest 1 shown"));
    EXPECT_THAT(said, Not(HasSubstr("fetch  work")));
}

TEST_F(OpenCallsView, IsOneObjectACall) {
    OpenCall running = call(2, 8'000, 8, 1);
    running.running = true;
    running.wait.clear();
    running.stack.clear();
    const auto lines = open_calls_json(model, std::vector{call(1, 9'000, 7, 0), running});
    ASSERT_EQ(lines.size(), 2u);
    const auto first = nlohmann::json::parse(lines[0]), second = nlohmann::json::parse(lines[1]);
    EXPECT_EQ(first["command"], "open");
    EXPECT_EQ(first["probe"], "handle");
    EXPECT_EQ(first["age"], 9'000);
    EXPECT_EQ(first["tid"], 7);
    EXPECT_EQ(first["stack"], (nlohmann::json{"[recvfrom]", "fetch", "handle"}));
    EXPECT_EQ(first["wait"], "recvfrom(9) unix /tmp/\\x1b[1m");
    EXPECT_EQ(second["running"], true);
    EXPECT_EQ(second["depth"], 1);
    EXPECT_TRUE(second["wait"].is_null());
}

} // namespace
} // namespace auger
