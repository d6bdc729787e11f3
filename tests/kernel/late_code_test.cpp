// SPDX-License-Identifier: GPL-3.0-or-later
// A file that makes who reads its code hang: others are timed at once, its own functions when they
// are known, and nothing waits meanwhile.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/readers_of_file.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <sys/stat.h>

#include <filesystem>
#include <optional>

namespace auger::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

LiveOptions at_terminal() {
    LiveOptions options;
    options.at_terminal = true;
    return options;
}

class ReadersOfCode : public KernelTest {
  protected:
    static constexpr uid_t somebody = 64'001;
    static constexpr ProbeId late{7};

    void SetUp() override {
        KernelTest::SetUp();
        if (IsSkipped())
            return;
        std::filesystem::copy_file(program_path("spinner"), theirs_);
        ASSERT_EQ(chown(theirs_.c_str(), somebody, somebody), 0);
        program_.emplace(theirs_, std::vector<std::string>{"--seconds", "300"});
        program_->wait_ready();
        ours_.wait_ready();
    }
    // Both programs are observed and read; what is asked of theirs from now on hangs.
    void hang(Session& session) {
        session.observe({ours_.pid(), program_->pid()});
        session.time("main");
        hanging_.emplace(getpid(), theirs_);
    }

    TemporaryFolder folder_;
    const std::string theirs_ = folder_.path("theirs");
    Program ours_{"spinner", {"--seconds", "300"}};
    std::optional<Program> program_;
    std::optional<HangingReader> hanging_;
};

TEST_F(ReadersOfCode, ThatHangLeaveOthersToBeTimed) {
    Session session(at_terminal());
    hang(session);
    const ProbeId hot = session.time("hot");
    ASSERT_EQ(session.report.places.size(), 1u);
    EXPECT_EQ(session.report.places[0].module, program_path("spinner"));
    EXPECT_THAT(session.report.notes,
                testing::Contains(HasSubstr(theirs_ + " of user 64001 is still being read")));
    EXPECT_TRUE(session.pump_until([&] { return session.calls(hot).returns > 0; }));
    // What comes meanwhile is looked over all the same.
    session.observe({ours_.pid(), program_->pid()});
    const uint64_t before = session.calls(hot).returns;
    EXPECT_TRUE(session.pump_until([&] { return session.calls(hot).returns > before; }));
    EXPECT_FALSE(session.noticed("now timed in " + theirs_));
    hanging_.reset();
    EXPECT_TRUE(session.pump_until([&] { return session.noticed("now timed in " + theirs_); }));
}

TEST_F(ReadersOfCode, ThatHangMakeAProbeWait) {
    Session session(at_terminal());
    hang(session);
    const ProbeReport report = must(session.backend().add_probe({late, theirs_ + ":hot"}));
    EXPECT_TRUE(report.pending);
    EXPECT_THAT(report.places, IsEmpty());
    // It can be taken back, and asked for again.
    must(session.backend().remove_probe(late));
    EXPECT_TRUE(must(session.backend().add_probe({late, theirs_ + ":hot"})).pending);
    // Who asks for a list is told that there is none yet.
    EXPECT_FALSE(session.backend().find_call_sites("hot"));
    hanging_.reset();
    EXPECT_TRUE(session.pump_until([&] { return session.calls(late).returns > 0; }));
}

TEST_F(ReadersOfCode, ThatHangAndFindNothingAreTold) {
    Session session(at_terminal());
    hang(session);
    const std::string nobody = theirs_ + ":nobody_at_all";
    EXPECT_TRUE(must(session.backend().add_probe({late, nobody})).pending);
    hanging_.reset();
    EXPECT_TRUE(session.pump_until([&] { return session.noticed("no such function"); }));
}

TEST_F(ReadersOfCode, ThatHangAreWaitedForByScripts) {
    int asked = 0;
    LiveOptions script;
    script.go_on = [&] {
        // Longer than anybody waits at a terminal.
        if (hanging_ && ++asked == 15)
            hanging_->go_on();
        return true;
    };
    Session session(script);
    hang(session);
    session.time(theirs_ + ":hot");
    EXPECT_EQ(session.report.places.size(), 1u);
    EXPECT_GE(asked, 15);
}

} // namespace
} // namespace auger::test
