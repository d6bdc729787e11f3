// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/command_line.h"
#include "loader/process/proc_info.h"
#include "loader/process/safe_open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/prctl.h>

#include <latch>
#include <thread>

namespace auger {
namespace {

TEST(ProcInfo, StatOfANameWithBracketsAndSpaces) {
    const auto stat = parse_stat("42 (a) S (b) R) S 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 "
                                 "123456 999 88 18446744073709551615\n");
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->comm, "a) S (b) R");
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->parent, 7);
    EXPECT_EQ(stat->start_ticks, 123456u);
    EXPECT_EQ(stat->cpu_ticks, 5u + 6u);
    EXPECT_EQ(stat->threads, 1u);
    EXPECT_FALSE(stat->kernel);
}

TEST(ProcInfo, TheKernelsOwnThreadsAreKnown) {
    const auto stat = parse_stat("17 (ksoftirqd/0) S 2 0 0 0 -1 69238848 0 0 0 0 0 1 0 0 20 0 1 0 "
                                 "5 0 0 18446744073709551615\n");
    ASSERT_TRUE(stat);
    EXPECT_TRUE(stat->kernel);
    EXPECT_FALSE(read_stat(getpid())->kernel);
    // Those that run here, where the kernel says it in words.
    const auto pids = all_pids();
    ASSERT_TRUE(pids);
    for (const pid_t pid : *pids) {
        const auto one = read_stat(pid);
        const auto status = read_file("/proc/" + std::to_string(pid) + "/status", 1 << 20);
        const std::string key = "\nKthread:\t";
        const size_t at = status ? status->find(key) : std::string::npos;
        if (one && at != std::string::npos) {
            EXPECT_EQ(one->kernel, status->at(at + key.size()) == '1') << one->comm;
        }
    }
}

TEST(ProcInfo, StatThatIsNone) {
    for (const char* bad : {"", "42", "42 (a", "42 )a( S 1", "42 (a) S", "42 (a) S x 1"})
        EXPECT_FALSE(parse_stat(bad)) << bad;
}

TEST(ProcInfo, OwnProcess) {
    const auto stat = read_stat(getpid());
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->parent, getppid());
    EXPECT_EQ(*uid_of(getpid()), getuid());
    EXPECT_EQ(*process_of_thread(gettid()), getpid());
    EXPECT_TRUE(exe_path(getpid())->ends_with("unit_loader"));
    EXPECT_THAT(*command_line_of(getpid()), testing::HasSubstr("unit_loader"));
    const auto waits = waits_of(gettid());
    const auto before = on_cpu(gettid());
    ASSERT_TRUE(waits);
    ASSERT_TRUE(before);
    usleep(1000);
    EXPECT_GT(*waits_of(gettid()), *waits);
    const auto after = on_cpu(gettid());
    ASSERT_TRUE(after);
    EXPECT_GT(after->times, before->times);
    EXPECT_GT(after->ns, before->ns);
    EXPECT_FALSE(on_cpu(0x7fffffff));
    EXPECT_THAT(*all_pids(), testing::Contains(getpid()));
    EXPECT_FALSE(read_stat(0x7fffffff));
    EXPECT_EQ(read_stat(0x7fffffff).error().cause, "No such process");
}

TEST(ProcInfo, ThreadsAndTheirNames) {
    std::latch started(2), finish(1);
    pid_t tid = 0;
    std::thread thread([&] {
        tid = gettid();
        prctl(PR_SET_NAME, "a b\n(c)");
        started.arrive_and_wait();
        finish.wait();
    });
    started.arrive_and_wait();
    EXPECT_THAT(*threads_of(getpid()), testing::IsSupersetOf({getpid(), tid}));
    EXPECT_EQ(*comm_of(tid), "a b\n(c)");
    EXPECT_EQ(*process_of_thread(tid), getpid());
    finish.count_down();
    thread.join();
}

TEST(ProcInfo, FindsTheCgroup2Mount) {
    EXPECT_EQ(cgroup2_mount("proc /proc proc rw 0 0\n"
                            "cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\n"
                            "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"),
              "/sys/fs/cgroup/unified");
    EXPECT_EQ(cgroup2_mount("cgroup /cgroup2 cgroup rw 0 0\n"), std::nullopt);
    EXPECT_EQ(cgroup2_mount("short\n"), std::nullopt);
}

TEST(ProcInfo, ACgroupIsFoundByItsPathWithAndWithoutTheMount) {
    const auto own = cgroup_of(getpid());
    if (!own)
        GTEST_SKIP() << own.error().message();
    const auto by_path = cgroup_by_path(own->path);
    ASSERT_TRUE(by_path) << by_path.error().message();
    EXPECT_EQ(by_path->id, own->id);
    EXPECT_FALSE(cgroup_by_path("/no/such/group"));
}

class SudoEnvironment : public testing::Test {
  protected:
    void TearDown() override {
        unsetenv("SUDO_UID");
        unsetenv("SUDO_GID");
    }
    static void set(const char* uid, const char* gid) {
        setenv("SUDO_UID", uid, 1);
        setenv("SUDO_GID", gid, 1);
    }
};

TEST_F(SudoEnvironment, IsBelievedOnlyWhenItNamesAUser) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root: sudo leaves no other";
    EXPECT_FALSE(invoking_user());
    set("1", "1"); // daemon
    const auto user = invoking_user();
    ASSERT_TRUE(user);
    EXPECT_EQ(user->uid, 1u);
    EXPECT_EQ(user->name, "daemon");
    for (const char* bad : {"", "-1", "4294967295", "1x", "99999999999", "123456789"}) {
        set(bad, "1");
        EXPECT_FALSE(invoking_user()) << bad;
    }
}

} // namespace
} // namespace auger
