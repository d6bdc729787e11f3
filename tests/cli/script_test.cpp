// SPDX-License-Identifier: GPL-3.0-or-later
// Scripts as people really have them: empty, of the wrong kind, huge, with mistakes in them.
#include "tests/cli/invocation.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace auger::test {
namespace {

using testing::HasSubstr;

class Script : public testing::Test {
  protected:
    Outcome run_script(const std::string& content, std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"--batch", "-f", folder_.file("test.aug", content)});
        return auger(more);
    }
    TemporaryFolder folder_;
};

TEST_F(Script, AnEmptyOneDoesNothing) {
    for (const char* content : {"", "\n\n", "# only a comment", "\xEF\xBB\xBF", "   \t\r\n"}) {
        const Outcome outcome = run_script(content);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_EQ(outcome.out + outcome.err, "");
    }
}

TEST_F(Script, LinesMayEndAsElsewhere) {
    EXPECT_EQ(run_script("\xEF\xBB\xBF"
                         "echo a\r\necho b")
                  .out,
              "a\nb\n");
}

TEST_F(Script, ABinaryFileIsNone) {
    for (const std::string& content :
         {std::string("\x7F"
                      "ELF\x02\x01\x01\0\0\0",
                      10),
          std::string("\xFF\xFE e\0c\0", 7), std::string(1'000, '\0')}) {
        const Outcome outcome = run_script(content);
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_THAT(outcome.err, HasSubstr("test.aug:1:1"));
        EXPECT_LT(outcome.err.size(), 1000u);
        for (char c : outcome.err)
            EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
    }
}

TEST_F(Script, ADirectoryIsNone) {
    const Outcome outcome = auger({"--batch", "-f", folder_.path("")});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("it is a directory"));
}

TEST_F(Script, AHugeLineIsAnErrorOfAFewLines) {
    const Outcome outcome = run_script("echo ok\n" + std::string(5'000'000, 'x') + "\n");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "ok\n");
    EXPECT_THAT(outcome.err, HasSubstr("test.aug:2:65537: error: the line is longer than 65536"));
    EXPECT_LT(outcome.err.size(), 1000u);
}

TEST_F(Script, AMistakeStopsItAtItsPlace) {
    const Outcome outcome = run_script("echo one\n\n  echo two; sampel 99\necho three\n");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "one\ntwo\n");
    EXPECT_THAT(outcome.err, HasSubstr("test.aug:3:13: error: there is no command \"sampel\"\n"
                                       "      echo two; sampel 99\n"
                                       "                ^~~~~~\n"
                                       "  did you mean \"sample\"?\n"));
}

TEST_F(Script, KeepGoingRunsTheRestAndRemembers) {
    const Outcome outcome =
        run_script("delete 7\nsampel\necho three\n", {"--keep-going", "-e", "echo four"});
    EXPECT_EQ(outcome.code, 1) << "of the first failure";
    EXPECT_EQ(outcome.out, "three\nfour\n");
}

TEST_F(Script, OneInsideAnotherNamesBoth) {
    const std::string inner = folder_.file("inner.aug", "echo in\nsampel\n");
    const Outcome outcome = run_script("source " + inner + "\necho never\n");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "in\n");
    EXPECT_THAT(outcome.err, HasSubstr("inner.aug:2:1: error"));
    EXPECT_THAT(outcome.err, HasSubstr("test.aug:1:1: error"));
}

TEST_F(Script, OneThatReadsItselfEnds) {
    const Outcome outcome = run_script("source " + folder_.path("test.aug") + "\n");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("test.aug:1:1: error"));
}

// What sudo lets a user start as root reads no more than that user could.
TEST(Rights, AreThoseOfWhoCalledSudo) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root: sudo leaves no other";
    const TemporaryFolder folder;
    const std::string secret = folder.file("secret", "echo read\n");
    ASSERT_EQ(chmod(secret.c_str(), 0600), 0);
    const auto by_nobody = [](std::vector<std::string> arguments, Surroundings surroundings = {}) {
        surroundings.prepare = [] {
            return setenv("SUDO_UID", "65534", 1) == 0 && setenv("SUDO_GID", "65534", 1) == 0;
        };
        return auger(std::move(arguments), surroundings);
    };
    EXPECT_EQ(auger({"--batch", "-f", secret}).out, "read\n");
    for (const std::vector<std::string>& way :
         {std::vector<std::string>{"-f", secret}, {"-e", "source " + secret}}) {
        std::vector<std::string> arguments{"--batch"};
        arguments.insert(arguments.end(), way.begin(), way.end());
        const Outcome outcome = by_nobody(arguments);
        EXPECT_NE(outcome.code, 0);
        EXPECT_EQ(outcome.out, "");
        EXPECT_THAT(outcome.err, HasSubstr("Permission denied"));
        EXPECT_THAT(outcome.err,
                    HasSubstr("it is read with the rights of nobody, who called sudo"));
    }
    // A pipe of root's, which nobody could not open anew.
    EXPECT_EQ(by_nobody({"--batch", "-f", "/dev/stdin"}, {.input = "echo piped\n"}).out, "piped\n");
    EXPECT_EQ(by_nobody({"--batch", "-f", "-"}, {.input = "echo piped\n"}).out, "piped\n");
}

TEST(StandardInput, IsAScript) {
    const Outcome good = auger({}, {.input = "echo one\necho two"});
    EXPECT_EQ(good.code, 0);
    EXPECT_EQ(good.out, "one\ntwo\n");
    const Outcome bad = auger({"-f", "-"}, {.input = "echo one\nsampel\necho two\n"});
    EXPECT_EQ(bad.code, 2);
    EXPECT_EQ(bad.out, "one\n");
    EXPECT_THAT(bad.err, HasSubstr("stdin:2:1: error"));
    const Outcome huge = auger({}, {.input = std::string(3'000'000, '\0')});
    EXPECT_EQ(huge.code, 2);
    EXPECT_THAT(huge.err, HasSubstr("stdin:1:65537"));
}

// A recording is read when something of it is needed, which an edit may be, too.
TEST(Replaying, AnEditMayBeTheFirstCommand) {
    const std::string recording = AUGER_SOURCE_DIR "/tests/unit/recordings/format_4.auger";
    for (const char* commands : {"threshold outer 5ms; flame slow", "window 100ms until 500ms; top",
                                 "split outer > 1ms"}) {
        const Outcome outcome = auger({"--batch", "--replay", recording, "-e", commands});
        EXPECT_EQ(outcome.code, 0) << commands << "\n" << outcome.err;
    }
    const Outcome wrong = auger({"--batch", "--replay", recording, "-e", "threshold nobody 5ms"});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err, HasSubstr("\"nobody\" is not timed"));
    // What it cannot do is said of what it has.
    const Outcome target = auger({"--batch", "--replay", recording, "-e", "time outer off"});
    EXPECT_EQ(target.code, 1);
    EXPECT_THAT(target.err, HasSubstr("it has the probes outer"));
}

// What came of the recording meanwhile is not taken back.
TEST(Replaying, UndoIsOfTheEditAlone) {
    const std::string recording = AUGER_SOURCE_DIR "/tests/unit/recordings/format_4.auger";
    const Outcome outcome =
        auger({"--batch", "--replay", recording, "-e", "window 10s; probes; undo; probes"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const size_t undone = outcome.out.find("undid \"window 10s\"");
    ASSERT_NE(undone, std::string::npos);
    EXPECT_NE(outcome.out.find("outer"), std::string::npos);
    EXPECT_NE(outcome.out.find("outer", undone), std::string::npos) << outcome.out;
}

} // namespace
} // namespace auger::test
