// SPDX-License-Identifier: GPL-3.0-or-later
// Whose files are seen as ours: trust in what only root can have written hangs on it.
#include "loader/process/root_folders.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace auger {
namespace {

// A process with a root within /proc, and these namespaces of its own.
class Rooted {
  public:
    explicit Rooted(int namespaces) {
        int ends[2];
        if (pipe(ends) != 0)
            return;
        pid_ = fork();
        if (pid_ == 0) {
            const int own = namespaces | (geteuid() == 0 ? 0 : CLONE_NEWUSER);
            const bool done = (own == 0 || unshare(own) == 0) && chroot("/proc/self/fdinfo") == 0;
            const char byte = done ? '!' : '?';
            (void)!write(ends[1], &byte, 1);
            for (;;)
                pause();
        }
        close(ends[1]);
        char byte = '?';
        there_ = read(ends[0], &byte, 1) == 1 && byte == '!';
        close(ends[0]);
    }
    ~Rooted() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    bool there() const { return there_; }
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_ = -1;
    bool there_ = false;
};

TEST(RootFolders, ARootWithoutFilesAmongOurMountsIsOurs) {
    const Rooted reader(0);
    ASSERT_TRUE(reader.there());
    const auto root = RootFolders().of(reader.pid());
    ASSERT_TRUE(root);
    EXPECT_EQ(*root, nullptr);
}

// As a container's root could have: what it maps was written there.
TEST(RootFolders, ARootWithoutFilesAmongOtherMountsIsNot) {
    const Rooted container(CLONE_NEWNS);
    ASSERT_TRUE(container.there());
    const auto root = RootFolders().of(container.pid());
    ASSERT_TRUE(root);
    EXPECT_NE(*root, nullptr);
}

} // namespace
} // namespace auger
