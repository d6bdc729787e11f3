// SPDX-License-Identifier: GPL-3.0-or-later
// Without privilege there is no backend, but an explanation and what to do.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <grp.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

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

// What reads files that others wrote: in its memory and among its descriptors is nothing of ours.
TEST_F(KernelTest, ReadersOfFilesShareNothingWithUs) {
    const auto processes = [](pid_t parent, std::string_view name) {
        std::vector<pid_t> found;
        const std::string threads = "/proc/" + std::to_string(parent) + "/task";
        for (const auto& thread : std::filesystem::directory_iterator(threads)) {
            std::ifstream children(thread.path() / "children");
            for (pid_t child; children >> child;) {
                std::ifstream comm("/proc/" + std::to_string(child) + "/comm");
                if (std::string is; comm >> is && is == name)
                    found.push_back(child);
            }
        }
        return found;
    };
    const auto expect_apart = [](pid_t pid) {
        const std::string process = "/proc/" + std::to_string(pid);
        const auto own = std::filesystem::read_symlink("/proc/self/exe").filename().string();
        std::ifstream maps(process + "/maps");
        for (std::string line; std::getline(maps, line);) {
            EXPECT_EQ(line.find("anon_inode:"), line.npos) << line;
            EXPECT_EQ(line.find(own), line.npos) << line; // another program
        }
        for (const auto& descriptor : std::filesystem::directory_iterator(process + "/fd")) {
            const std::string to = std::filesystem::read_symlink(descriptor).string();
            EXPECT_TRUE(to == "/dev/null" || to.starts_with("socket:") ||
                        to.ends_with("/auger-reader") || to.starts_with("/memfd:progress") ||
                        to.ends_with("/spinner") || to.ends_with(".debug"))
                << to;
        }
        std::ifstream environment(process + "/environ");
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(environment), {}), "");
    };
    Program program("spinner", {"--threads", "1", "--seconds", "60"});
    program.wait_ready();
    Session session;
    const auto launchers = processes(getpid(), "auger-readers");
    ASSERT_EQ(launchers.size(), 1u);
    expect_apart(launchers[0]);
    session.observe(program.pid());
    session.sample(999);
    ASSERT_TRUE(session.pump_until([&] { return session.model().samples().size() >= 100; }));
    session.backend().settle_symbols(std::chrono::seconds(60));
    const auto readers = processes(launchers[0], "auger-dwarf"); // they stay for further lines
    EXPECT_GE(readers.size(), 1u);
    // `status` knows them all, and what they hold.
    const ReaderStatus status = session.backend().reader_status();
    EXPECT_EQ(status.services.at("dwarf").processes, readers.size());
    EXPECT_GT(status.services.at("names").bytes, 0u);
    for (const auto& [service, use] : status.services)
        EXPECT_LT(use.bytes, status.limit) << service;
    for (const pid_t reader : readers) {
        expect_apart(reader);
        std::ifstream status("/proc/" + std::to_string(reader) + "/status");
        const std::string text(std::istreambuf_iterator<char>(status), {});
        for (const char* line : {"CapEff:\t0000000000000000", "CapPrm:\t0000000000000000",
                                 "CapAmb:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2",
                                 "Uid:\t2147418222\t2147418222\t2147418222\t2147418222"})
            EXPECT_NE(text.find(line), text.npos) << line;
    }
}

} // namespace
} // namespace auger::test
