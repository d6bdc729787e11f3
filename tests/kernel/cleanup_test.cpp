// SPDX-License-Identifier: GPL-3.0-or-later
// After SIGKILL nothing of auger is left: no BPF program, no link, and no changed byte in the
// target.
#include "tests/kernel/program.h"
#include "tests/kernel/ways.h"
#include "tests/support/bpf_objects.h"
#include "tests/support/wait.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
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
    Program program("spinner", {"--threads", "2", "--slice-us", "1000"});
    program.wait_ready();
    std::string path = program_path("spinner");
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

INSTANTIATE_TEST_SUITE_P(Ways, Killed,
                         testing::Values(LiveOptions::Attach::multi, LiveOptions::Attach::perf),
                         [](const auto& info) {
                             return info.param == LiveOptions::Attach::multi ? "multi" : "perf";
                         });

} // namespace
} // namespace auger::test
