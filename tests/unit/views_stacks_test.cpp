// SPDX-License-Identifier: GPL-3.0-or-later
// What all threads do, as text and as JSON.
#include "tests/unit/synthetic_stream.h"
#include "views/json/json_views.h"
#include "views/text/views.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::Not;

class StacksView : public testing::Test {
  protected:
    StacksView() {
        options.unicode = false;
        for (const char* name : {"s:[futex]", "P:app.take", "worker"})
            waiting.push_back(stream.location(name));
        other.push_back(stream.location("poll_once"));
    }
    ThreadNow thread(uint32_t tid, std::vector<LocationId> stack, uint32_t pid = 100) {
        ThreadNow thread;
        thread.thread = {pid, tid, "work\x1b[2J"};
        thread.wait = "futex";
        thread.stack = std::move(stack);
        return thread;
    }
    std::string text(const std::vector<ThreadNow>& threads) {
        return to_text(stacks_view(model, options, threads), ColourMode::none);
    }
    Model model;
    SyntheticStream stream{model};
    std::vector<LocationId> waiting, other;
    ViewOptions options;
};

TEST_F(StacksView, ShowsEqualOnesOnceTheMostThreadsFirst) {
    std::vector<ThreadNow> threads = {thread(7, other)};
    for (uint32_t tid = 11; tid < 20; tid++)
        threads.push_back(thread(tid, waiting));
    threads[1].wait = "futex 0x\x1b[1m";
    ThreadNow running = thread(30, {});
    running.running = true;
    threads.push_back(running);
    ThreadNow unreadable = thread(31, {});
    unreadable.wait.clear();
    threads.push_back(unreadable);
    const std::string said = text(threads);
    EXPECT_THAT(said, HasSubstr("12 threads of 1 process, 4 stacks\n"));
    EXPECT_THAT(said, HasSubstr("9 threads  work\\x1b[2J 11, 12, 13, 14, 15, 16; and 3 more\n"
                                "      waits in futex\n"
                                "      waits in futex 0x\\x1b[1m\n"
                                "      [futex]  main.cc:10\n"
                                "      app.take  main.cc:11\n"));
    EXPECT_THAT(said, HasSubstr("1 thread  work\\x1b[2J 7\n"));
    EXPECT_THAT(said, HasSubstr("work\\x1b[2J 30\n      running: only"));
    EXPECT_THAT(said,
                HasSubstr("work\\x1b[2J 31\n      waits\n      (the stack could not be read)"));
    EXPECT_THAT(said, Not(HasSubstr("\x1b")));
    EXPECT_LT(said.find("9 threads"), said.find("1 thread "));
}

// Each with its own: equal addresses of two processes need not be the same work.
TEST_F(StacksView, KeepsProcessesApart) {
    const std::string said = text({thread(7, waiting, 100), thread(8, waiting, 200)});
    EXPECT_THAT(said, HasSubstr("2 threads of 2 processes, 2 stacks"));
    EXPECT_THAT(said, HasSubstr("1 thread of 100  "));
    EXPECT_THAT(said, HasSubstr("1 thread of 200  "));
}

TEST_F(StacksView, ShowsAsManyAsAreAskedFor) {
    options.limit = 1;
    options.stack = {FrameChoice::language, 16};
    const std::string said = text({thread(7, other), thread(11, waiting), thread(12, waiting)});
    EXPECT_THAT(said, HasSubstr("3 threads of 1 process, 2 stacks, 1 shown"));
    EXPECT_THAT(said, HasSubstr("app.take"));
    EXPECT_THAT(said, Not(HasSubstr("worker  main.cc")));
    EXPECT_THAT(said, Not(HasSubstr("poll_once")));
    EXPECT_THAT(text({}), HasSubstr("No thread is there."));
    options.limit = 0;
    const std::vector<LocationId> another = {stream.location("poll_twice")};
    const std::string all =
        text({thread(6, {}), thread(7, other), thread(8, another), thread(11, waiting)});
    EXPECT_THAT(all, HasSubstr("4 threads of 1 process, 3 stacks\n"));
    EXPECT_THAT(all, HasSubstr("1 thread  work\\x1b[2J 6\n      waits in futex\n"
                               "      (the stack could not be read)"));
    EXPECT_LT(all.find("1 thread  work\\x1b[2J 11"), all.find("2 threads  work\\x1b[2J 7, 8"));
    EXPECT_THAT(all, HasSubstr("(no frame is of a language)"));
}

TEST_F(StacksView, TellsJsonOfEachThread) {
    ThreadNow running = thread(30, {});
    running.running = true;
    running.wait.clear();
    const std::vector<ThreadNow> threads = {thread(11, waiting), running};
    auto lines = stacks_json(model, threads);
    ASSERT_EQ(lines.size(), 2u);
    const auto first = nlohmann::json::parse(lines[0]), second = nlohmann::json::parse(lines[1]);
    EXPECT_EQ(first["command"], "stacks");
    EXPECT_EQ(first["pid"], 100);
    EXPECT_EQ(first["tid"], 11);
    EXPECT_EQ(first["wait"], "futex");
    EXPECT_EQ(first["running"], false);
    EXPECT_EQ(first["stack"], nlohmann::json({"[futex]", "app.take", "worker"}));
    EXPECT_EQ(second["running"], true);
    EXPECT_EQ(second["wait"], nullptr);
    EXPECT_EQ(second["stack"], nlohmann::json::array());
    lines = stacks_json(model, threads, 1, {FrameChoice::language, 0});
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(nlohmann::json::parse(lines[0])["stack"], nlohmann::json({"app.take"}));
}

} // namespace
} // namespace auger
