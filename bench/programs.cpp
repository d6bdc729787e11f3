// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/programs.h"

#include <fmt/format.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace auger::bench {

namespace {

constexpr int patience_ms = 5'000;

void add_descendants(pid_t pid, std::vector<pid_t>& pids) {
    std::error_code ignored;
    for (const auto& task :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), ignored)) {
        std::ifstream children(task.path() / "children");
        for (pid_t child; children >> child;) {
            pids.push_back(child);
            add_descendants(child, pids);
        }
    }
}

} // namespace

const std::vector<RealProgram>& real_programs() {
    static const std::vector<RealProgram> all = {
        {"PostgreSQL", "postgres", {"postgres.sh"}, {"pgbench"}, "postgresql"},
        {"Python", "python3", {"python3.sh"}, {"python3"}, "python3"},
        {"nginx", "nginx", {"nginx.sh"}, {"nginx", "ab"}, "nginx apache2-utils"},
        {"git", "git", {"git.sh"}, {"git"}, "git"},
        {"GCC's cc1plus", "cc1plus", {"cc1plus.sh"}, {"g++"}, "g++"},
        {"node --perf-basic-prof", "node", {"node.sh", "--perf-basic-prof"}, {"node"}, "nodejs"},
        {"node", "node", {"node.sh"}, {"node"}, "nodejs"},
        {"ripgrep (Rust)",
         "rg",
         {"repeat.sh", "rg", "-uu", "-c", "(\\w+)_[a-z]+ [a-z]?x", "/usr/include",
          "/usr/share/doc"},
         {"rg"},
         "ripgrep"},
        {"fd (Rust)",
         "fdfind",
         {"repeat.sh", "fdfind", "-uu", "[a-f]{3,}.*[0-9]+", "/usr"},
         {"fdfind"},
         "fd-find"},
        {"Go's compiler (Go)", "compile", {"go.sh"}, {"go"}, "golang-go"},
        {"restic (Go)", "restic", {"restic.sh"}, {"restic"}, "restic"},
        {"hugo (Go and C)", "hugo", {"hugo.sh"}, {"hugo"}, "hugo"},
    };
    return all;
}

std::string missing_packages(const RealProgram& program) {
    for (const char* needed : program.programs) {
        if (find_program(needed).empty())
            return program.packages;
    }
    return {};
}

RunningProgram::RunningProgram(const RealProgram& program) {
    // What a script leaves behind becomes a child of this process, by which it is found.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::vector<std::string> command = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"",
                                        folder_.path()};
    command.insert(command.end(), program.script.begin(), program.script.end());
    command[4] = std::string(AUGER_BENCH_SCRIPTS) + "/" + command[4];
    script_ = std::make_unique<Child>(command, Output::pipe);
    if (const std::string line = script_->read_line(); line != "ready")
        throw std::runtime_error("it says " + line);
}

RunningProgram::~RunningProgram() {
    try {
        script_->write_line("end");
    } catch (const std::runtime_error&) {
        // It has ended already.
    }
    for (int waited = 0; waited < patience_ms && script_->running(); waited += 10)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    script_.reset();
    for (;;) {
        std::vector<pid_t> left;
        add_descendants(getpid(), left);
        if (left.empty())
            break;
        for (const pid_t pid : left)
            kill(pid, SIGKILL);
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

std::vector<pid_t> RunningProgram::processes() const {
    std::vector<pid_t> pids = {script_->pid()};
    add_descendants(script_->pid(), pids);
    return pids;
}

} // namespace auger::bench
