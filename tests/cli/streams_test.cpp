// SPDX-License-Identifier: GPL-3.0-or-later
// Standard input, output and error that are closed, full, or that nobody reads.
#include "tests/cli/invocation.h"
#include "tests/kernel/program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace auger::test {
namespace {

using testing::HasSubstr;

bool redirect(int fd, const char* path) {
    const int file = open(path, O_RDWR);
    return file >= 0 && dup2(file, fd) == fd && close(file) == 0;
}

// A pipe whose reader is gone, as in `auger | head -1`.
bool nobody_reads(int fd) {
    int ends[2];
    return pipe(ends) == 0 && dup2(ends[1], fd) == fd && close(ends[0]) == 0 && close(ends[1]) == 0;
}

TEST(Streams, ClosedInputWithoutCommandsIsUsage) {
    const Outcome outcome = auger({}, {.prepare = [] { return close(0) == 0; }});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("standard input is closed and no commands are given"));
}

TEST(Streams, ClosedInputIsNoMatterWhenThereAreCommands) {
    const Outcome outcome = auger({"-e", "echo hi"}, {.prepare = [] { return close(0) == 0; }});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "hi\n");
}

TEST(Streams, EmptyInputIsAnEmptyScript) {
    const Outcome outcome = auger({}, {.prepare = [] { return redirect(0, "/dev/null"); }});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST(Streams, AFolderAsInputIsAnError) {
    const Outcome outcome = auger({}, {.prepare = [] {
                                      const int folder = open("/tmp", O_RDONLY);
                                      return folder >= 0 && dup2(folder, 0) == 0;
                                  }});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("read standard input: Is a directory"));
}

TEST(Streams, FullOutputIsAFailure) {
    const Outcome outcome =
        auger({"--batch", "-e", "help"}, {.prepare = [] { return redirect(1, "/dev/full"); }});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("write standard output: No space left on device"));
}

TEST(Streams, ClosedOutputIsAFailure) {
    const Outcome outcome =
        auger({"--batch", "-e", "help"}, {.prepare = [] { return close(1) == 0; }});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("write standard output"));
}

// Whoever is to write into a pipe may come late, or never.
TEST(Streams, APipeWithoutAWriterDoesNotHoldAugerFast) {
    const TemporaryFolder folder;
    const std::string pipe = folder.path("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    Program late(AUGER_BINARY, {"--batch", "-e", "echo ready", "-f", pipe});
    EXPECT_EQ(late.read_line(), "ready");
    {
        const int writer = open(pipe.c_str(), O_WRONLY | O_CLOEXEC);
        ASSERT_EQ(write(writer, "echo here\n", 10), 10);
        close(writer);
    }
    EXPECT_EQ(late.read_line(), "here");
    EXPECT_EQ(late.wait_exit(), 0);

    Program never(AUGER_BINARY, {"--batch", "-e", "echo ready", "-f", pipe});
    EXPECT_EQ(never.read_line(), "ready");
    never.signal(SIGTERM);
    EXPECT_TRUE(wait_until([&] {
        siginfo_t info{};
        waitid(P_PID, static_cast<id_t>(never.pid()), &info, WEXITED | WNOHANG | WNOWAIT);
        return info.si_pid != 0;
    })) << "it waits for a writer";
}

// Who stops reading has seen enough; commands after that would be for nobody.
TEST(Streams, OutputThatNobodyReadsEndsItQuietly) {
    const Outcome outcome = auger({"--batch", "-e", "echo one", "-e", "wait 1h"},
                                  {.prepare = [] { return nobody_reads(1); }});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
}

TEST(Streams, ErrorsThatNobodyReadsStillCount) {
    for (const auto& prepare : {std::function<bool()>([] { return close(2) == 0; }),
                                std::function<bool()>([] { return nobody_reads(2); }),
                                std::function<bool()>([] { return redirect(2, "/dev/full"); })}) {
        const Outcome outcome =
            auger({"--batch", "--keep-going", "-e", "spltt; echo two"}, {.prepare = prepare});
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.out, "two\n");
    }
}

// What auger opens must not land on a closed descriptor and be written to as if it were output.
TEST(Streams, AllClosed) {
    const Outcome outcome =
        auger({"--batch", "-e", "help"},
              {.prepare = [] { return close(0) == 0 && close(1) == 0 && close(2) == 0; }});
    EXPECT_EQ(outcome.code, 1);
}

} // namespace
} // namespace auger::test
