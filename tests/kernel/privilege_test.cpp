// SPDX-License-Identifier: GPL-3.0-or-later
// Without privilege there is no backend, but an explanation and what to do.
#include "tests/kernel/session.h"

#include <grp.h>
#include <sys/wait.h>

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

} // namespace
} // namespace auger::test
