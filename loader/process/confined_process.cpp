// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/confined_process.h"

#include "loader/process/confined_start.h"
#include "loader/process/message.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

namespace auger {
namespace {

constexpr size_t most_remembered = 1024; // numbers of processes, before those gone are looked for

// The launcher gets neither descriptors nor variables of ours, no terminal, and all signals. It is
// not forked: between vfork and exec nothing of this process's memory is copied.
int spawn(const ConfinedProgram& program, int socket, pid_t& pid) {
    std::vector<char*> arguments = {
        const_cast<char*>(program.path.c_str()),
        const_cast<char*>(program.network ? launch_with_network_word : launch_word)};
    for (const std::string& argument : program.arguments)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    char* environment[] = {nullptr};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, socket, confined_socket);
    posix_spawn_file_actions_addclosefrom_np(&files, confined_socket + 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int failed =
        posix_spawn(&pid, program.path.c_str(), &files, &attributes, arguments.data(), environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

} // namespace

ConfinedProgram reader_program() {
    std::string self(PATH_MAX, '\0');
    const ssize_t size = readlink("/proc/self/exe", self.data(), self.size());
    self.resize(size > 0 ? static_cast<size_t>(size) : 0);
    const std::string folder = self.substr(0, self.rfind('/') + 1);
    const std::string beside = folder + "auger-reader";
    return {access(beside.c_str(), X_OK) == 0 ? beside : folder + "../libexec/auger/auger-reader",
            {},
            false};
}

ConfinedProgram networked_reader_program() {
    ConfinedProgram program = reader_program();
    program.network = true;
    return program;
}

ConfinedProcess::~ConfinedProcess() {
    if (process_)
        syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
}

Result<std::unique_ptr<ConfinedProcesses>>
ConfinedProcesses::start(const ConfinedProgram& program) {
    std::unique_ptr<ConfinedProcesses> processes(new ConfinedProcesses(program));
    if (auto launched = processes->launch(); !launched)
        return launched.error();
    return processes;
}

Result<void> ConfinedProcesses::launch() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return system_error("make a socket pair for", program_.path);
    UniqueFd ours(ends[0]), its(ends[1]);
    pid_t pid = 0;
    if (const int failed = spawn(program_, its.get(), pid))
        return system_error("start", program_.path,
                            "it reads files for auger and is installed with it; install it again",
                            failed);
    socket_ = std::move(ours);
    pid_ = pid;
    made_.clear();
    return {};
}

void ConfinedProcesses::end() {
    // Closing would not end it: a command that auger has forked and not yet let go has the socket,
    // too.
    shutdown(socket_.get(), SHUT_RDWR);
    socket_.reset();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

ConfinedProcesses::~ConfinedProcesses() {
    if (socket_)
        end();
}

pid_t ConfinedProcesses::pid() const {
    const std::lock_guard lock(mutex_);
    return pid_;
}

std::vector<ConfinedMemory> ConfinedProcesses::memory() {
    const std::lock_guard lock(mutex_);
    return memory_of_made();
}

std::vector<ConfinedMemory> ConfinedProcesses::memory_of_made() {
    std::vector<ConfinedMemory> all;
    std::erase_if(made_, [&](pid_t pid) {
        auto memory = confined_memory(pid, pid_);
        if (!memory)
            return true;
        all.push_back(*std::move(memory));
        return false;
    });
    return all;
}

std::optional<ConfinedProcess> ConfinedProcesses::ask(std::string_view service) {
    if (!send_message(socket_.get(), service))
        return {};
    auto made = receive_message(socket_.get(), sizeof(pid_t));
    if (!made || made->descriptors.size() != 2 || made->bytes.size() != sizeof(pid_t))
        return {};
    pid_t pid = 0;
    std::memcpy(&pid, made->bytes.data(), sizeof pid);
    if (made_.size() >= most_remembered)
        (void)memory_of_made();
    made_.push_back(pid);
    return ConfinedProcess(std::move(made->descriptors[0]), std::move(made->descriptors[1]));
}

Result<ConfinedProcess> ConfinedProcesses::make(std::string_view service) {
    constexpr int most_launches = 5;
    const std::lock_guard lock(mutex_);
    for (int launches = 0;; launches++) {
        if (socket_) {
            if (auto process = ask(service))
                return *std::move(process);
            end();
        }
        if (launches == most_launches)
            return Error{"make a process to read in", {}, "none came", {}};
        if (auto launched = launch(); !launched)
            return launched.error();
    }
}

} // namespace auger
