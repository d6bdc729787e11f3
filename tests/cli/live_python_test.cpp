// SPDX-License-Identifier: GPL-3.0-or-later
// A Python program, as somebody looks at it who never heard of its interpreter's functions.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;

class LivePython : public LiveTest {
  protected:
    void SetUp() override {
        LiveTest::SetUp();
        if (!std::filesystem::exists("/usr/bin/python3"))
            GTEST_SKIP() << "python3 is not installed";
    }
    // Nanoseconds of all kinds in the stacks that hold the function.
    static double ns_in(const json& flame, const std::string& function) {
        double sum = 0;
        for (const json& entry : flame["stacks"]) {
            const auto stack = entry["stack"].get<std::vector<std::string>>();
            if (std::ranges::find(stack, function) == stack.end())
                continue;
            for (const char* kind : {"cpu", "blocked", "runnable"})
                sum += entry.value(kind, 0.0);
        }
        return sum;
    }
};

TEST_F(LivePython, FunctionsAreInFlamesOfNowAndOfRecordings) {
    const std::string recording = folder_.path("python.auger"), told = folder_.path("stretches");
    Program program("/usr/bin/python3",
                    {AUGER_SOURCE_DIR "/tests/programs/python_chains.py", told});
    program.wait_ready();
    std::string flame;
    {
        LiveAuger auger({"-p", std::to_string(program.pid()), "--record", recording});
        auger.run({"time libc:clock_nanosleep", "slow libc:clock_nanosleep > 1ms",
                   "only in libc:clock_nanosleep", "sample wall 997"});
        program.go();
        ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(told + ".done"); }));
        auger.run({"sample off"});
        // Others never sleep there.
        const json only = auger.ask("flame");
        EXPECT_GT(ns_in(only, "sleep"), 0) << only;
        EXPECT_GT(ns_in(only, "threads.<locals>.feed"), 0);
        EXPECT_EQ(ns_in(only, "burn"), 0);
        EXPECT_EQ(ns_in(only, "receive"), 0);
        const auto calls = auger.all("calls libc:clock_nanosleep -n 1000");
        EXPECT_GE(calls.size(), 40u);
        flame = auger.ask("flame --folded")["folded"];
        // Either kind alone, of the same samples.
        const json language = auger.ask("flame --language"), native = auger.ask("flame --native");
        EXPECT_EQ(language["frames"], "language");
        EXPECT_EQ(ns_in(language, "sleep"), ns_in(only, "sleep"));
        EXPECT_EQ(ns_in(native, "sleep"), 0);
        EXPECT_EQ(ns_in(language, "[clock_nanosleep]"), 0);
        EXPECT_GT(ns_in(native, "[clock_nanosleep]"), 0);
        EXPECT_EQ(ns_in(language, "python3"), ns_in(native, "python3"));
        auger.run({"record off"});
    }
    EXPECT_THAT(flame, HasSubstr("Thread._bootstrap;"));
    const Outcome replayed =
        auger({"--batch", "--json", "--replay", recording, "-e", "flame --folded"});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    json again;
    std::istringstream lines(replayed.out);
    for (std::string line; std::getline(lines, line);)
        if (const json answer = json::parse(line); answer.contains("folded"))
            again = answer["folded"];
    EXPECT_EQ(again, flame);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

} // namespace
} // namespace auger::test
