// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/confined_process.h"

#include "loader/process/message.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <vector>

namespace auger {
namespace {

constexpr uid_t nobody = 65534;
constexpr int own_socket = STDERR_FILENO + 1;

void limit(__rlimit_resource what, uint64_t value) {
    const rlimit both{value, value};
    setrlimit(what, &both);
}

// Standard streams that lead nowhere, and the socket.
bool keep_only(int socket, int nowhere) {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (dup2(nowhere, fd) < 0)
            return false;
    if (socket != own_socket && dup2(socket, own_socket) < 0)
        return false;
    fcntl(own_socket, F_SETFD, FD_CLOEXEC);
    return close_range(own_socket + 1, ~0U, 0) == 0;
}

// False when rights are left: then nothing is to be read.
bool give_up_rights() {
    if (geteuid() == 0) {
        // A network and a file system without anything. Where the kernel has none, being nobody has
        // to do.
        (void)!unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS);
        (void)(!chroot("/proc/self/fdinfo") && !chdir("/"));
        if (setgroups(0, nullptr) != 0 || setresgid(nobody, nobody, nobody) != 0 ||
            setresuid(nobody, nobody, nobody) != 0)
            return false;
    }
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
    return syscall(SYS_capset, &header, none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

bool confine(int socket, int nowhere, const ConfinedLimits& limits) {
    if (!keep_only(socket, nowhere) || !give_up_rights())
        return false;
    prctl(PR_SET_DUMPABLE, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NPROC, 0);
    limit(RLIMIT_NOFILE, 16);
    limit(RLIMIT_CPU, limits.cpu_seconds);
#ifndef __SANITIZE_ADDRESS__ // which reserves terabytes of addresses
    // Never more than half of what the machine has.
    const auto pages = static_cast<uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L));
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    limit(RLIMIT_AS, std::min(limits.memory, pages * page / 2));
#endif
    setpriority(PRIO_PROCESS, 0, 10); // whatever is observed goes first
    // With the one it was forked from, which ends with auger. (Changes of user undo this.)
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

// Forks one for every message, and hands back its socket and pidfd.
[[noreturn]] void serve(int socket, const char* name, ConfinedMain main,
                        const ConfinedLimits& limits) {
    prctl(PR_SET_NAME, name);
    // What ends or stops auger is meant for auger.
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTOU, SIGPIPE})
        ::signal(signal, SIG_IGN);
    for (const int signal : {SIGCHLD, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
        ::signal(signal, SIG_DFL);
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0 || !keep_only(socket, nowhere))
        _exit(1);
    std::vector<pid_t> running;
    while (receive_message(own_socket, 1)) {
        std::erase_if(running, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; });
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            break;
        const pid_t pid = fork();
        if (pid == 0) {
            if (confine(ends[1], STDIN_FILENO, limits))
                main(own_socket);
            _exit(0);
        }
        if (pid > 0)
            running.push_back(pid);
        UniqueFd theirs(ends[0]), its(ends[1]);
        UniqueFd process(pid < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
        const int handles[] = {theirs.get(), process.get()};
        if (!process || !send_message(own_socket, "!", handles))
            break;
    }
    for (const pid_t pid : running)
        kill(pid, SIGKILL);
    for (const pid_t pid : running)
        waitpid(pid, nullptr, 0);
    _exit(0);
}

} // namespace

ConfinedProcess::~ConfinedProcess() {
    if (process_)
        syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
}

Result<std::unique_ptr<ConfinedProcesses>>
ConfinedProcesses::start(const char* name, ConfinedMain main, const ConfinedLimits& limits) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return system_error("make a socket pair for", name);
    UniqueFd ours(ends[0]), its(ends[1]);
    const pid_t pid = fork();
    if (pid < 0)
        return system_error("fork", name);
    if (pid == 0)
        serve(its.get(), name, main, limits);
    return std::unique_ptr<ConfinedProcesses>(new ConfinedProcesses(std::move(ours), pid));
}

ConfinedProcesses::~ConfinedProcesses() {
    // Closing would not end it: a command that auger has forked and not yet let go has the socket,
    // too.
    shutdown(socket_.get(), SHUT_RDWR);
    socket_.reset();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

Result<ConfinedProcess> ConfinedProcesses::make() {
    const Error none{"make a process to read in", {}, "none came", {}};
    if (!send_message(socket_.get(), "!"))
        return none;
    auto made = receive_message(socket_.get(), 1);
    if (!made || made->descriptors.size() != 2)
        return none;
    return ConfinedProcess(std::move(made->descriptors[0]), std::move(made->descriptors[1]));
}

} // namespace auger
