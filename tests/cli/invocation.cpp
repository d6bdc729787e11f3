// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/invocation.h"

#include "tests/support/bpf_objects.h"

#include <gtest/gtest.h>

#include <grp.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <sstream>

namespace auger::test {

Outcome auger(std::vector<std::string> arguments, const Surroundings& surroundings) {
    const BpfObjects before = BpfObjects::existing();
    arguments.insert(arguments.begin(), AUGER_BINARY);
    Outcome outcome = run(std::move(arguments), surroundings);
    EXPECT_TRUE(BpfObjects::wait_nothing_left(before)) << "left behind";
    return outcome;
}

std::string without_overhead(const std::string& said) {
    std::istringstream lines(said);
    std::string rest;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("overhead: "))
            rest += line + "\n";
    return rest;
}

std::vector<nlohmann::json> json_lines(const std::string& text) {
    std::vector<nlohmann::json> objects;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        objects.push_back(nlohmann::json::parse(line));
    return objects;
}

nlohmann::json answer_to(const std::string& command, const std::string& text) {
    for (const nlohmann::json& line : json_lines(text))
        if (line.value("command", "") == command)
            return line;
    return {};
}

bool become_nobody() {
    constexpr unsigned nobody = 65534;
    return setgroups(0, nullptr) == 0 && setgid(nobody) == 0 && setuid(nobody) == 0;
}

bool hide(const char* folder) {
    return unshare(CLONE_NEWNS) == 0 &&
           mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount("none", folder, "tmpfs", 0, nullptr) == 0;
}

bool without_tracepoints() {
    constexpr auto number = static_cast<uint32_t>(offsetof(seccomp_data, nr));
    constexpr auto command = static_cast<uint32_t>(offsetof(seccomp_data, args[0]));
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, command),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, BPF_RAW_TRACEPOINT_OPEN, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOENT),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {static_cast<unsigned short>(std::size(filter)), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

} // namespace auger::test
