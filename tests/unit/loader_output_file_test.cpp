// SPDX-License-Identifier: GPL-3.0-or-later
// What auger writes never goes through a link, never replaces somebody else's file, and is whole or
// not there.
#include "loader/process/output_file.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <random>
#include <thread>
#include <utility>

namespace auger {
namespace {

using testing::HasSubstr;

// From now on, files without names cannot be had in this process.
bool without_nameless_files() {
    constexpr auto number = static_cast<uint32_t>(offsetof(seccomp_data, nr));
    constexpr auto flags = static_cast<uint32_t>(offsetof(seccomp_data, args[2]));
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, flags),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {std::size(filter), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

class Output : public testing::Test {
  protected:
    // The error's text; empty when it was written.
    std::string write(const std::string& path, const std::string& text) {
        auto file = OutputFile::create(path);
        if (!file)
            return file.error().message();
        file->write(text);
        auto written = file->commit();
        return written ? "" : written.error().message();
    }
    static std::string content(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    size_t files() const {
        const std::filesystem::directory_iterator all(folder.path(""));
        return static_cast<size_t>(std::distance(begin(all), end(all)));
    }

    test::TemporaryFolder folder;
};

TEST_F(Output, IsForItsOwnerAlone) {
    const std::string path = folder.path("a.folded"), text(3'000'000, 'x');
    EXPECT_EQ(write(path, text), "");
    EXPECT_EQ(content(path), text);
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    EXPECT_EQ(files(), 1u);
}

TEST_F(Output, TakesItsNameWhenItIsWhole) {
    const std::string path = folder.file("a", "former");
    {
        auto file = OutputFile::create(path);
        ASSERT_TRUE(file);
        file->write(std::string(1'000'000, 'x'));
        EXPECT_EQ(content(path), "former");
    }
    EXPECT_EQ(content(path), "former"); // given up
    EXPECT_EQ(files(), 1u);
    EXPECT_EQ(write(path, "new"), "");
    EXPECT_EQ(content(path), "new");
}

TEST_F(Output, FollowsNoLink) {
    const std::string target = folder.file("target", "precious"), link = folder.path("link");
    ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
    EXPECT_THAT(write(link, "evil"), HasSubstr("symbolic link"));
    EXPECT_EQ(content(target), "precious");
    // Nor one that is put there while it is being written.
    const std::string late = folder.path("late");
    auto file = OutputFile::create(late);
    ASSERT_TRUE(file);
    ASSERT_EQ(symlink(target.c_str(), late.c_str()), 0);
    file->write("evil");
    EXPECT_FALSE(file->commit());
    EXPECT_EQ(content(target), "precious");
}

TEST_F(Output, ReplacesNothingButOwnFiles) {
    ASSERT_EQ(mkfifo(folder.path("fifo").c_str(), 0600), 0);
    EXPECT_THAT(write(folder.path("fifo"), "x"), HasSubstr("not a regular file"));
    EXPECT_THAT(write(folder.path(""), "x"), HasSubstr("name"));
    EXPECT_THAT(write(folder.path("no/such/folder"), "x"), HasSubstr("No such file"));
    if (geteuid() != 0)
        GTEST_SKIP() << "only root can give a file to somebody else";
    const std::string other = folder.file("other", "theirs");
    ASSERT_EQ(chown(other.c_str(), 65534, 65534), 0);
    EXPECT_THAT(write(other, "x"), HasSubstr("another user"));
    EXPECT_EQ(content(other), "theirs");
}

// Where the file system knows no files without names.
TEST_F(Output, IsWholeOrNotThereOnAnyFileSystem) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const bool prepared = without_nameless_files();
        bool well = true;
        {
            auto given_up = OutputFile::create(folder.path("a"));
            well = given_up && files() == 1;
        }
        well = well && files() == 0 && write(folder.path("a"), "1").empty() &&
               write(folder.path("a"), "22").empty();
        _exit(prepared && well && content(folder.path("a")) == "22" && files() == 1 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

// Killed at any moment: all of some version is there, and nothing else.
TEST_F(Output, LeavesOnlyWholeFilesWhenKilled) {
    constexpr size_t size = 200'000;
    const std::string path = folder.path("out");
    std::minstd_rand random(1);
    size_t versions = 0;
    std::string former;
    for (int round = 0; round < 100; round++) {
        int written[2];
        ASSERT_EQ(pipe(written), 0);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0)
            for (char c = static_cast<char>('a' + round % 20);; c = c == 'z' ? 'a' : char(c + 1)) {
                if (!write(path, std::string(size, c)).empty())
                    _exit(1);
                // The first of them: a process takes its time to begin.
                if (written[1] >= 0 && ::write(written[1], "w", 1) != 1)
                    _exit(2);
                close(std::exchange(written[1], -1));
            }
        close(written[1]);
        char first = 0;
        EXPECT_EQ(read(written[0], &first, 1), 1);
        close(written[0]);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 5'000));
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)); // by us, while it was writing
        for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
            const std::string text = content(entry.path());
            ASSERT_EQ(text.size(), size) << entry.path();
            ASSERT_EQ(text.find_first_not_of(text[0]), text.npos);
            versions += text != std::exchange(former, text);
        }
    }
    EXPECT_GT(versions, 1u);
    EXPECT_LE(files(), 2u); // killed between its two names, it has both
}

} // namespace
} // namespace auger
