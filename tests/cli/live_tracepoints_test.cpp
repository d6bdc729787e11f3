// SPDX-License-Identifier: GPL-3.0-or-later
// Tracepoints of the kernel's as somebody types them, on a program that counts its system calls.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

namespace auger::test {
namespace {

using testing::HasSubstr;

class LiveTracepoints : public LiveTest {
  protected:
    LiveTracepoints() { program_.wait_ready(); }

    std::string pid() const { return std::to_string(program_.pid()); }

    Program program_{"system_calls", {"--calls", "500", "--wait", "--linger"}};
};

TEST_F(LiveTracepoints, AreListedCountedFilteredAndTimed) {
    const std::string recording = folder_.path("calls.augr"), saved = folder_.path("session.aug");
    LiveAuger auger({"-p", pid()});
    const json listed = auger.ask("probes tracepoint syscalls:sys_enter_openat");
    ASSERT_EQ(listed["tracepoints"].size(), 1u);
    EXPECT_EQ(listed["tracepoints"][0]["ends_at"], "sys_exit_openat");
    EXPECT_EQ(listed["tracepoints"][0]["fields"][2]["name"], "filename");
    EXPECT_EQ(listed["tracepoints"][0]["fields"][2]["type"], "const char *");

    const std::string open = "tracepoint:syscalls:sys_enter_openat";
    auger.run({"record " + recording, "time " + open,
               "only " + open + R"( if str(args.filename) == "/dev/zero" and args.dfd == -100)",
               "time tracepoint:syscalls:sys_enter_getppid", "slow syscall:nanosleep > 1us",
               "split syscall:nanosleep > p50"});
    program_.go();
    const json account = program_.account();
    auger.run({"wait until entries tracepoint:syscalls:sys_enter_getppid >= " +
               account["rounds"].dump() + " for 60s"});
    EXPECT_EQ(auger.ask("hist tracepoint:syscalls:sys_enter_getppid")["count"], account["rounds"]);
    EXPECT_EQ(auger.ask("hist " + open)["count"], account["zeros"]);
    const json sleep = auger.ask("hist syscall:nanosleep");
    EXPECT_EQ(sleep["count"], account["sleeps"]);
    EXPECT_GE(sleep["min"], 300'000);
    EXPECT_EQ(sleep["span"]["stray_ends"], 0);
    auger.run({"save " + saved, "record off"});

    // One word stands for the span, in what is saved, too.
    const Outcome text = auger::test::auger(
        {"--batch", "--replay", recording, "-e", "hist syscall:nanosleep; probes"});
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("from tracepoint:syscalls:sys_enter_nanosleep"));
    EXPECT_THAT(text.out, HasSubstr(account["sleeps"].dump() + " spans"));
    const Outcome again = auger::test::auger({"--batch", "-f", saved, "-e", "probes"});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.out, HasSubstr("syscall:nanosleep"));
}

TEST_F(LiveTracepoints, WhatIsWrongIsShownAtTheWord) {
    const auto refused = [&](const std::string& line, const std::string& word,
                             const std::string& why) {
        const Outcome outcome = auger({"--batch", "-p", pid(), "-e", line});
        EXPECT_NE(outcome.code, 0) << line;
        const size_t column = line.find(word) + 1;
        EXPECT_THAT(outcome.err, HasSubstr("-e:1:" + std::to_string(column) + ": error: ")) << line;
        EXPECT_THAT(outcome.err, HasSubstr(why)) << line;
    };
    refused("time tracepoint:syscalls:sys_enter_reed", "tracepoint", "sys_enter_read");
    refused("time tracepoint:syscal:sys_enter_read", "tracepoint", "tracepoint:syscalls:");
    refused("time syscall:reed", "syscall", "sys_enter_read");
    refused("time syscall:*", "syscall", "names no system call");
    refused("time kernel:tcp_sendmsg", "kernel", "probes tracepoint tcp*");
    refused("slow tracepoint:sched:sched_wakeup > 1ms", "tracepoint", "has no duration");
    refused("split tracepoint:sched:sched_wakeup > p95", "tracepoint", "has no duration");
    refused("only tracepoint:syscalls:sys_enter_read if args.fdd == 1", "fdd", "fd, buf, count");
    refused("span s from tracepoint:syscalls:sys_enter_read key args.size to "
            "tracepoint:syscalls:sys_exit_read",
            "size", "no field");
    refused("probes tracepoint nothing_at_all", "nothing", "no such tracepoint");
}

} // namespace
} // namespace auger::test
