// SPDX-License-Identifier: GPL-3.0-or-later
// Programs that ask the auger that observes them for their own profile: in C, and in Python.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

#include <filesystem>
#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class LiveOwnProfile : public LiveTest {
  protected:
    void SetUp() override {
        LiveTest::SetUp();
        other_.wait_ready();
    }
    // What the program has got in this form.
    std::string profile(Program& program, const std::string& format) {
        const std::string file = folder_.path(std::to_string(program.pid()) + "-" + format);
        program.say(format + " " + file);
        EXPECT_EQ(program.read_line(), "done") << format;
        return text_of(file);
    }
    // Lines that are of another process; and whether the stacks of the own one hold the function.
    static bool holds(const std::string& collapsed, const std::string& function) {
        return collapsed.find(";" + function + " ") != collapsed.npos ||
               collapsed.find(";" + function + ";") != collapsed.npos;
    }
    // Until then a profile of one second may be over before there is a whole stack in it.
    static bool has_tables(LiveAuger& auger) {
        return wait_until([&] { return auger.ask("status")["unwinding"]["pending"] == json(0); });
    }
    static void expect_only(const std::string& collapsed, const std::string& process) {
        std::istringstream lines(collapsed);
        size_t stacks = 0;
        for (std::string line; std::getline(lines, line);)
            if (!line.starts_with("#")) {
                stacks++;
                EXPECT_THAT(line, StartsWith(process + ";"));
            }
        EXPECT_GT(stacks, 0u);
    }
    std::string socket_ = folder_.path("s");
    Program other_{"spinner", {}}; // is observed, too
};

TEST_F(LiveOwnProfile, OfAProgramInC) {
    Program program("own_profile", {"work", socket_, "1"});
    program.wait_ready();
    const std::string pid = std::to_string(program.pid());
    LiveAuger auger({"-p", pid + "," + std::to_string(other_.pid()), "--serve", "unix:" + socket_});
    ASSERT_TRUE(has_tables(auger));
    const std::string collapsed = profile(program, "collapsed");
    expect_only(collapsed, "own_profile");
    EXPECT_TRUE(holds(collapsed, "knead")) << collapsed;
    EXPECT_TRUE(holds(collapsed, "bake")) << collapsed;
    EXPECT_THAT(profile(program, "pprof"), StartsWith("\x1f\x8b"));
    const std::string otlp = profile(program, "otlp");
    EXPECT_THAT(otlp, HasSubstr("knead"));
    EXPECT_THAT(otlp, Not(HasSubstr("spinner")));
    const std::string script = profile(program, "perf-script");
    EXPECT_THAT(script, HasSubstr("own_profile " + pid + "/"));
    EXPECT_THAT(script, HasSubstr("knead"));
    EXPECT_THAT(script, Not(HasSubstr("spin-")));
    // It was sampled for the program alone, and is no longer.
    EXPECT_EQ(auger.ask("status")["clients"]["answered"], 4);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_F(LiveOwnProfile, OfAProgramInPython) {
    if (!std::filesystem::exists("/usr/bin/python3"))
        GTEST_SKIP() << "python3 is not installed";
    Program program("/usr/bin/python3",
                    {AUGER_SOURCE_DIR "/tests/programs/own_profile.py", socket_, "1"});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid()) + "," + std::to_string(other_.pid()),
                     "--serve", "unix:" + socket_});
    ASSERT_TRUE(has_tables(auger));
    const std::string collapsed = profile(program, "collapsed");
    expect_only(collapsed, "python3");
    EXPECT_TRUE(holds(collapsed, "knead")) << collapsed;
    EXPECT_THAT(profile(program, "pprof"), StartsWith("\x1f\x8b"));
    EXPECT_THAT(profile(program, "perf-script"), HasSubstr("knead"));
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// Others are told why not, and nothing of who is observed.
TEST_F(LiveOwnProfile, IsForWhoIsObservedAndMayAsk) {
    LiveAuger auger({"-p", std::to_string(other_.pid()), "--serve", "unix:" + socket_});
    const std::vector<std::string> ask{program_path("own_profile"), "ask", socket_, "0.5",
                                       "collapsed"};
    const Outcome stranger = run(ask);
    EXPECT_EQ(stranger.code, 1);
    EXPECT_EQ(stranger.out, "");
    EXPECT_THAT(stranger.err, StartsWith(std::to_string(ESRCH) + " process "));
    EXPECT_THAT(stranger.err, HasSubstr("is not observed"));
    // The socket's mode keeps out whom it is not for; where that was changed, auger does.
    const Outcome nobody = run(ask, {.prepare = become_nobody});
    EXPECT_EQ(nobody.code, 1);
    EXPECT_THAT(nobody.err, StartsWith(std::to_string(EACCES) + " "));
    std::filesystem::permissions(socket_, std::filesystem::perms(0666));
    const Outcome closed = run(ask, {.prepare = become_nobody});
    EXPECT_EQ(closed.code, 1);
    EXPECT_EQ(closed.out, "");
    EXPECT_THAT(closed.err, HasSubstr("auger has closed the connection"));
}

} // namespace
} // namespace auger::test
