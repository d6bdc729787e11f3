// SPDX-License-Identifier: GPL-3.0-or-later
// Labels of a Go program's goroutines, as somebody asks for them: in conditions, flames and splits,
// of now and of a recording.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

class LiveGoLabels : public LiveTest {
  protected:
    void SetUp() override {
        LiveTest::SetUp();
        if (!std::filesystem::exists(program_path("golabels_stripped")))
            GTEST_SKIP() << "go is not installed (package golang-go)";
    }
};

bool has(const json& entry, const char* function) {
    return std::ranges::find(entry["stack"], json(function)) != entry["stack"].end();
}

/// Whether a sample in a call is not on the stack of its function: the kernel steps over the
/// function's last instruction, and it stands in its caller already; or the thread has taken up a
/// goroutine in the middle of a call (runtime.execute) and is still on its own stack, the
/// scheduler's, which begins with one of these two.
bool leaves_or_takes_up(const json& entry) {
    return has(entry, "asm_exc_debug") || has(entry, "runtime.mcall") ||
           has(entry, "runtime.mstart");
}

TEST_F(LiveGoLabels, TellCallsAndSamplesApart) {
    const std::string recording = folder_.path("labels.auger");
    Program program("golabels_stripped", {"--calls", "100", "--burns", "8", "--wait", "--linger"});
    program.wait_ready();
    std::set<std::string> labels;
    {
        LiveAuger auger({"-p", std::to_string(program.pid()), "--record", recording});
        auger.run({"time main.handle", "only main.handle if golabel(\"route\") == \"/quote\"",
                   "split main.burnQuote by golabel(\"route\")", "sample golabel route 997"});
        program.go();
        const json account = program.account();
        auger.run({"sample off"});
        EXPECT_EQ(auger.ask("hist main.handle")["count"], account["routes"]["/quote"]);

        const json flame = auger.ask("flame by golabel"), plain = auger.ask("flame");
        EXPECT_EQ(flame["by"], "golabel");
        labels = labels_of(flame);
        EXPECT_THAT(labels, IsSupersetOf({"route=/quote", "route=/order", "{no golabel}"}));
        EXPECT_EQ(samples_of(flame), samples_of(plain));
        EXPECT_GT(ns_in(plain, "[golabel route=/quote]"), 0);
        // Of what the split's function does all has its label.
        const json split = auger.ask("flame =/quote");
        EXPECT_GT(ns_in(split, "main.burnQuote"), 0);
        for (const json& entry : split["stacks"])
            EXPECT_TRUE(has(entry, "[golabel route=/quote]") &&
                        (has(entry, "main.burnQuote") || leaves_or_takes_up(entry)))
                << entry;
        EXPECT_EQ(ns_in(split, "main.burnNone"), 0);
        auger.run({"record off"});
    }
    const Outcome replayed =
        auger({"--batch", "--json", "--replay", recording, "-e", "flame by golabel"});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    std::set<std::string> again;
    std::istringstream lines(replayed.out);
    for (std::string line; std::getline(lines, line);)
        if (const json answer = json::parse(line); answer.contains("stacks"))
            again = labels_of(answer);
    EXPECT_EQ(again, labels);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

} // namespace
} // namespace auger::test
