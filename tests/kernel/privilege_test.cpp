// SPDX-License-Identifier: GPL-3.0-or-later
// Without privilege there is no backend, but an explanation and what to do.
#include "tests/kernel/session.h"

#include <grp.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

namespace auger::test {
namespace {

TEST_F(KernelTest, WithoutPrivilegeThereIsAReasonAndARemedy) {
    int channel[2];
    ASSERT_EQ(pipe(channel), 0);
    pid_t child = fork();
    if (child == 0) {
        constexpr unsigned nobody = 65534;
        if (setgroups(0, nullptr) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0)
            _exit(2);
        Model model;
        auto backend = make_live_backend({}, model);
        if (backend)
            _exit(3);
        std::string text = backend.error().message();
        ssize_t written = write(channel[1], text.data(), text.size());
        bool said = written == static_cast<ssize_t>(text.size()) && !backend.error().hint.empty();
        _exit(said && backend.error().kind == Error::Kind::unsupported ? 0 : 4);
    }
    close(channel[1]);
    std::string text(1000, '\0');
    ssize_t size = read(channel[0], text.data(), text.size());
    text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
    close(channel[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << text;
    EXPECT_NE(text.find("root"), std::string::npos) << text;
    EXPECT_NE(text.find("CAP_BPF"), std::string::npos) << text;
}

// What reads debug information that others wrote: in its memory and among its descriptors is
// nothing of ours.
TEST_F(KernelTest, ReadersOfDebugInformationShareNothingWithUs) {
    Session session;
    size_t readers = 0;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream children(thread.path() / "children");
        for (pid_t child; children >> child;) {
            const std::string process = "/proc/" + std::to_string(child);
            std::ifstream comm(process + "/comm");
            if (std::string name; !(comm >> name) || name != "auger-dwarf")
                continue;
            readers++;
            std::ifstream maps(process + "/maps");
            for (std::string line; std::getline(maps, line);)
                EXPECT_EQ(line.find("anon_inode:"), line.npos) << line;
            for (const auto& descriptor : std::filesystem::directory_iterator(process + "/fd")) {
                const std::string to = std::filesystem::read_symlink(descriptor).string();
                EXPECT_TRUE(to == "/dev/null" || to.starts_with("socket:")) << to;
            }
        }
    }
    EXPECT_EQ(readers, 1u);
}

} // namespace
} // namespace auger::test
