// SPDX-License-Identifier: GPL-3.0-or-later
// Between fork and exec only async-signal-safe calls are made: another thread of auger may hold the
// allocator's lock. Everything that allocates is prepared before the fork.
#include "loader/process/launch.h"

#include "loader/process/argument_pointers.h"
#include "loader/process/starter.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

namespace auger {
namespace {

// What the child reports when it could not become the command.
struct ExecFailure {
    int error_number;
    char step; // 'u' while changing the user, 'f' while placing descriptors, 'x' in exec
};

struct Pipe {
    UniqueFd read, write;
    static Result<Pipe> make() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            return system_error("make a pipe for", "the command");
        return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
    }
    // Sockets, because writing to a pipe without a reader raises SIGPIPE.
    static Result<Pipe> make_sockets() {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            return system_error("make a socket pair for", "the command");
        return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
    }
};

// Paths to try in order, as execvp would.
std::vector<std::string> candidates(const std::string& command) {
    if (command.find('/') != std::string::npos)
        return {command};
    const char* search = std::getenv("PATH");
    std::string_view rest = search ? search : "/usr/local/bin:/usr/bin:/bin";
    std::vector<std::string> paths;
    for (;;) {
        const size_t end = std::min(rest.find(':'), rest.size());
        const std::string_view folder = rest.substr(0, end);
        paths.push_back((folder.empty() ? "." : std::string(folder)) + "/" + command);
        if (end == rest.size())
            return paths;
        rest.remove_prefix(end + 1);
    }
}

// The environment for the command: under sudo that of the user's own login as far as it matters.
std::vector<std::string> environment_for(const std::optional<InvokingUser>& user) {
    std::vector<std::string> variables;
    for (char** variable = environ; *variable; variable++) {
        const std::string_view text = *variable;
        const bool replaced =
            text.starts_with("HOME=") || text.starts_with("USER=") || text.starts_with("LOGNAME=");
        if (!user || (!replaced && !text.starts_with("SUDO_")))
            variables.emplace_back(text);
    }
    if (user) {
        variables.push_back("HOME=" + user->home);
        variables.push_back("USER=" + user->name);
        variables.push_back("LOGNAME=" + user->name);
    }
    return variables;
}

[[noreturn]] void fail(const WaitingCommand& child, char step) {
    const ExecFailure failure{errno, step};
    [[maybe_unused]] const ssize_t written = write(child.error, &failure, sizeof(failure));
    _exit(127);
}

// dup2() of a descriptor onto itself would leave it to be closed by exec.
bool place(int from, int to) {
    if (from < 0)
        return true;
    if (from == to)
        return fcntl(to, F_SETFD, 0) == 0;
    return dup2(from, to) == to;
}

} // namespace

void become_command(const WaitingCommand& child) {
    if (child.own_group)
        setpgid(0, 0);
    char byte = 0;
    ssize_t got;
    do
        got = read(child.go, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got != 1)
        _exit(127); // auger gave up, or is gone
    // auger's console ignores and blocks signals that a command expects at their defaults.
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int to = 0; to < 3; to++)
        if (!place(child.stdio[to], to))
            fail(child, 'f');
    if (child.user && (setgroups(child.groups.size(), child.groups.data()) != 0 ||
                       setgid(child.user->gid) != 0 || setuid(child.user->uid) != 0))
        fail(child, 'u');
    int worst = ENOENT;
    for (const std::string& path : child.paths) {
        execve(path.c_str(), child.arguments.data(), child.environment.data());
        if (errno != ENOENT && errno != ENOTDIR)
            worst = errno;
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
            break;
    }
    errno = worst;
    fail(child, 'x');
}

Result<std::string> find_command(const std::string& command) {
    if (command.empty())
        return Error{"start", {}, "no command", {}, Error::Kind::usage};
    Error error{"start", command, "no such program", "check the name and PATH"};
    for (const std::string& path : candidates(command)) {
        struct stat status {};
        if (stat(path.c_str(), &status) != 0)
            continue;
        if (S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0)
            return path;
        if (S_ISDIR(status.st_mode))
            error = {"start", command, "it is a directory", ""};
        else
            error = {"start", command, "it is not executable", "`chmod +x` makes it so"};
    }
    return error;
}

Result<LaunchedProcess> LaunchedProcess::start(const LaunchOptions& options) {
    if (options.arguments.empty() || options.arguments[0].empty())
        return Error{"start", {}, "no command", {}, Error::Kind::usage};
    auto go = Pipe::make_sockets();
    auto error = Pipe::make();
    if (!go)
        return go.error();
    if (!error)
        return error.error();
    UniqueFd null;
    if (options.stdin_fd < 0)
        null.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));

    std::vector<std::string> arguments = options.arguments;
    std::vector<std::string> environment = environment_for(options.user);
    // Duplicates above 2, so that placing one never overwrites another that is still to be placed.
    UniqueFd wanted[3];
    const int given[3] = {options.stdin_fd < 0 ? null.get() : options.stdin_fd, options.stdout_fd,
                          options.stderr_fd};
    for (int to = 0; to < 3; to++)
        if (given[to] >= 0)
            wanted[to].reset(fcntl(given[to], F_DUPFD_CLOEXEC, 3));
    LaunchedProcess process;
    process.command_ = options.arguments[0];
    process.terminate_on_exit_ = options.terminate_on_exit;
    if (options.starter) {
        auto started = options.starter->run({candidates(arguments[0]),
                                             arguments,
                                             environment,
                                             options.own_process_group,
                                             go->read.get(),
                                             error->write.get(),
                                             {wanted[0].get(), wanted[1].get(), wanted[2].get()}});
        if (!started)
            return started.error();
        process.pid_ = started->pid;
        process.pidfd_ = std::move(started->process);
    } else {
        const WaitingCommand child{candidates(arguments[0]),
                                   argument_pointers(arguments),
                                   argument_pointers(environment),
                                   options.user ? &*options.user : nullptr,
                                   options.user ? groups_of(*options.user) : std::vector<gid_t>(),
                                   options.own_process_group,
                                   {wanted[0].get(), wanted[1].get(), wanted[2].get()},
                                   go->read.get(),
                                   error->write.get()};
        process.pid_ = fork();
        if (process.pid_ < 0)
            return system_error("start", process.command_);
        if (process.pid_ == 0) {
            // Else the child itself would keep the pipe open on which it waits for our end.
            close(go->write.get());
            become_command(child);
        }
        process.pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, process.pid_, 0)));
    }
    if (options.own_process_group)
        setpgid(process.pid_, process.pid_); // also here: it must hold when start() returns
    process.go_ = std::move(go->write);
    process.exec_error_ = std::move(error->read);
    if (!process.pidfd_)
        return system_error("watch", process.command_);
    return process;
}

LaunchedProcess::LaunchedProcess(LaunchedProcess&& other) noexcept {
    *this = std::move(other);
}

LaunchedProcess& LaunchedProcess::operator=(LaunchedProcess&& other) noexcept {
    if (this == &other)
        return *this;
    finish();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    go_ = std::move(other.go_);
    exec_error_ = std::move(other.exec_error_);
    command_ = std::move(other.command_);
    terminate_on_exit_ = other.terminate_on_exit_;
    released_ = other.released_;
    status_ = std::move(other.status_);
    return *this;
}

LaunchedProcess::~LaunchedProcess() {
    finish();
}

void LaunchedProcess::finish() {
    if (pid_ < 0 || status_)
        return;
    go_.reset();
    if (!released_) {
        kill(pid_, SIGKILL); // our own unreaped child: the number cannot be another's
        waitpid(pid_, nullptr, 0);
    } else if (terminate_on_exit_) {
        (void)signal(SIGTERM);
    }
}

Result<void> LaunchedProcess::release() {
    if (released_)
        return Error{"start", command_, "already started", {}};
    released_ = true;
    const ssize_t written = send(go_.get(), "g", 1, MSG_NOSIGNAL);
    if (written != 1)
        return system_error("start", command_);
    go_.reset();
    ExecFailure failure{};
    ssize_t got;
    do
        got = read(exec_error_.get(), &failure, sizeof(failure));
    while (got < 0 && errno == EINTR);
    exec_error_.reset();
    if (got == 0)
        return {};
    (void)wait_exit(std::chrono::milliseconds(1000)); // the child is at its _exit()
    if (got != sizeof(failure))
        return Error{"start", command_, "ended before it was started", {}};
    const char* hint = failure.step == 'u'   ? "changing to the invoking user"
                       : failure.step == 'f' ? "placing standard input and output"
                                             : "";
    return system_error("start", command_, hint, failure.error_number);
}

Result<std::optional<ExitStatus>> LaunchedProcess::exit_status() {
    if (status_)
        return status_;
    siginfo_t info{};
    if (waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED | WNOHANG) != 0)
        return system_error("wait for", command_);
    if (info.si_pid == 0)
        return std::optional<ExitStatus>();
    status_ = ExitStatus{info.si_code != CLD_EXITED, info.si_status, info.si_code == CLD_DUMPED};
    return status_;
}

Result<std::optional<ExitStatus>> LaunchedProcess::wait_exit(std::chrono::milliseconds timeout) {
    if (!status_) {
        pollfd ended{pidfd_.get(), POLLIN, 0};
        while (poll(&ended, 1, static_cast<int>(timeout.count())) < 0 && errno == EINTR)
            ;
    }
    return exit_status();
}

Result<void> LaunchedProcess::signal(int number) const {
    if (syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0) != 0)
        return system_error("signal", command_);
    return {};
}

} // namespace auger
