// SPDX-License-Identifier: GPL-3.0-or-later
// After SIGKILL nothing of auger is left: no BPF program, no link, and no changed byte in the
// target.
#include "tests/kernel/program.h"
#include "tests/kernel/ways.h"
#include "tests/support/bpf_objects.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>

namespace auger::test {
namespace {

// The executable bytes of the target's own program: as mapped, and as the file has them.
struct Code {
    std::string in_memory, in_file;
};

Code code_of(pid_t pid, const std::string& path) {
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    std::string line;
    Code code;
    while (std::getline(maps, line)) {
        unsigned long start = 0, end = 0, offset = 0;
        char permissions[5] = {};
        if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx", &start, &end, permissions, &offset) != 4 ||
            permissions[2] != 'x' || !line.ends_with(path))
            continue;
        int memory = open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
        int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        code.in_file.resize(end - start);
        ssize_t size = pread(file, code.in_file.data(), end - start, static_cast<off_t>(offset));
        code.in_file.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
        code.in_memory.resize(code.in_file.size());
        EXPECT_EQ(
            pread(memory, code.in_memory.data(), code.in_memory.size(), static_cast<off_t>(start)),
            size);
        close(memory);
        close(file);
    }
    return code;
}

class Killed : public WaysTest<LiveOptions::Attach> {};

TEST_P(Killed, LeavesNothingBehind) {
    // A copy, of which nobody else probes anything.
    const TemporaryFolder folder;
    const std::string path = folder.path("spinner");
    std::filesystem::copy_file(program_path("spinner"), path);
    Program program(path, {"--threads", "2", "--slice-us", "1000"});
    program.wait_ready();
    ASSERT_EQ(code_of(program.pid(), path).in_memory, code_of(program.pid(), path).in_file);

    int ready[2];
    ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        try {
            Session session({GetParam()});
            session.observe(program.pid());
            ProbeId probe = session.time("hot");
            session.time("warm");
            session.sample(999);
            if (session.pump_until([&] { return session.calls(probe).returns > 20; }) &&
                write(ready[1], "+", 1) == 1) {
                session.pump_to_end();
            }
        } catch (...) {
        }
        _exit(1);
    }
    close(ready[1]);
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1) << "the observer did not come so far";
    close(ready[0]);
    // It was really there.
    EXPECT_NE(code_of(program.pid(), path).in_memory, code_of(program.pid(), path).in_file);
    const BpfObjects held = BpfObjects::held_by(child);
    EXPECT_GE(held.programs.size(), 8u);
    EXPECT_GE(held.links.size(), 6u);

    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_TRUE(held.wait_gone());
    EXPECT_TRUE(wait_until([&] {
        Code code = code_of(program.pid(), path);
        return code.in_memory == code.in_file && !code.in_file.empty();
    }));

    program.signal(SIGTERM);
    EXPECT_TRUE(program.account()["ok"].get<bool>());
    EXPECT_EQ(program.wait_exit(), 0);
}

// What the kernel has logged since the object was made.
class KernelLog {
  public:
    KernelLog() : fd_(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
        lseek(fd_, 0, SEEK_END);
    }
    ~KernelLog() { close(fd_); }
    KernelLog(const KernelLog&) = delete;
    KernelLog& operator=(const KernelLog&) = delete;

    // The lines that contain the text and one of the names.
    std::vector<std::string> lines(const std::string& text, std::vector<std::string> names) const {
        std::vector<std::string> found;
        std::array<char, 8192> record;
        for (;;) {
            const ssize_t size = read(fd_, record.data(), record.size());
            if (size < 0 && errno == EPIPE) // some were overwritten
                continue;
            if (size <= 0)
                return found;
            const std::string line(record.data(), static_cast<size_t>(size));
            if (line.find(text) != std::string::npos &&
                std::ranges::any_of(names, [&](const std::string& name) {
                    return line.find(name) != std::string::npos;
                }))
                found.push_back(line);
        }
    }

  private:
    int fd_;
};

// A process and all that it and they have started.
std::vector<pid_t> family_of(pid_t pid) {
    std::vector<pid_t> all = {pid};
    for (size_t at = 0; at < all.size(); at++) {
        const std::string process = std::to_string(all[at]);
        std::ifstream children("/proc/" + process + "/task/" + process + "/children");
        for (pid_t child; children >> child;)
            all.push_back(child);
    }
    return all;
}

// Notices it within microseconds.
template <typename Condition>
bool wait_busily(Condition condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > limit)
            return false;
    }
    return true;
}

size_t changed_bytes(const Code& code) {
    size_t changed = 0;
    for (size_t i = 0; i < code.in_file.size(); i++)
        changed += code.in_memory[i] != code.in_file[i];
    return changed;
}

enum class Moment { attaching, detaching };
enum class Victim { observer, all };

class KilledInBetween : public KernelTest,
                        public testing::WithParamInterface<std::tuple<Moment, Victim>> {};

// An observer that times 1,000 functions and then lets go of them.
pid_t start_observer(pid_t target, int attached, int go, const char* name) {
    const pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_NAME, name);
    try {
        Session session;
        session.observe(target);
        char byte = 0;
        if (read(go, &byte, 1) == 1) {
            const ProbeId probe = session.time("fn_*");
            if (write(attached, "+", 1) == 1 && read(go, &byte, 1) == 1)
                (void)session.backend().remove_probe(probe);
            session.pump_to_end();
        }
    } catch (...) {
    }
    _exit(1);
}

// Breakpoints go in or out one after the other, for some milliseconds: the kill comes as soon as
// some have, and others have not. On a busy machine that is often noticed when all have: then there
// are more rounds.
TEST_P(KilledInBetween, LeavesNoBreakpoint) {
    const auto [moment, victim] = GetParam();
    constexpr int rounds = 5, most_rounds = 100;
    constexpr const char* name = "killed-observer";
    Program program("many_functions", {});
    program.wait_ready();
    const std::string library = program_path("libmany_functions.so");
    const auto changed = [&] { return changed_bytes(code_of(program.pid(), library)); };
    ASSERT_EQ(changed(), 0u);
    const KernelLog log;
    int in_between = 0;
    for (int round = 0; round < rounds || (!in_between && round < most_rounds); round++) {
        int attached[2], go[2];
        ASSERT_EQ(pipe2(attached, O_CLOEXEC), 0);
        ASSERT_EQ(pipe2(go, O_CLOEXEC), 0);
        const pid_t child = start_observer(program.pid(), attached[1], go[0], name);
        close(attached[1]);
        close(go[0]);
        ASSERT_EQ(write(go[1], "+", 1), 1);
        size_t before = 0;
        char byte = 0;
        if (moment == Moment::detaching) {
            ASSERT_EQ(read(attached[0], &byte, 1), 1) << "the observer did not come so far";
            before = changed();
            EXPECT_GE(before, 1'000u);
            ASSERT_EQ(write(go[1], "+", 1), 1);
        }
        ASSERT_TRUE(wait_busily([&] { return changed() != before; }));
        const std::vector<pid_t> victims =
            victim == Victim::all ? family_of(child) : std::vector<pid_t>{child};
        for (const pid_t pid : victims)
            kill(pid, SIGKILL);
        const size_t then = changed();
        in_between += then != 0 && then != before;
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status));
        EXPECT_TRUE(wait_until([&] { return changed() == 0; }))
            << changed() << " bytes are not as they were, in round " << round;
        close(attached[0]);
        close(go[1]);
    }
    EXPECT_GT(in_between, 0) << "the kill never came in between";
    EXPECT_THAT(log.lines("leaking uprobe", {name, "auger-links"}), testing::IsEmpty());
    program.signal(SIGTERM);
    EXPECT_TRUE(program.account()["ok"].get<bool>());
    EXPECT_EQ(program.wait_exit(), 0);
}

INSTANTIATE_TEST_SUITE_P(Moments, KilledInBetween,
                         testing::Values(std::tuple(Moment::attaching, Victim::observer),
                                         std::tuple(Moment::detaching, Victim::observer),
                                         std::tuple(Moment::detaching, Victim::all)),
                         [](const auto& info) {
                             return std::string(std::get<Moment>(info.param) == Moment::attaching
                                                    ? "attaching"
                                                    : "detaching") +
                                    (std::get<Victim>(info.param) == Victim::all
                                         ? "_with_all_that_it_started"
                                         : "");
                         });

INSTANTIATE_TEST_SUITE_P(Ways, Killed,
                         testing::Values(LiveOptions::Attach::multi, LiveOptions::Attach::perf),
                         [](const auto& info) {
                             return info.param == LiveOptions::Attach::multi ? "multi" : "perf";
                         });

} // namespace
} // namespace auger::test
