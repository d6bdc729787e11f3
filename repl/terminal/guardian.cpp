// SPDX-License-Identifier: GPL-3.0-or-later
// The two processes are joined by a pipe: each message is what is to be put back from now on, and
// its end is auger's. The kernel closes a dying process's descriptors, the highest first, before it
// tells the parent of the death; so the pipe has a high one, and the guardian is done before the
// shell prints its prompt.
#include "repl/terminal/guardian.h"

#include "loader/process/capabilities.h"
#include "loader/process/landlock.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

namespace auger {
namespace {

struct ModeMessage {
    bool anything; // to be put back
    TerminalModes modes;
};
static_assert(sizeof(ModeMessage) <= PIPE_BUF, "messages come whole");

[[noreturn]] void guard(int from) {
    ::prctl(PR_SET_NAME, "auger-guardian");
    // What ends or stops auger is meant for auger. But a terminal that a shell has taken back is
    // not to be touched: then SIGTTOU, by default, makes tcsetattr fail.
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGPIPE})
        ::signal(signal, SIG_IGN);
    ::dup2(from, STDIN_FILENO);
    ::close(STDERR_FILENO);
    ::close_range(STDERR_FILENO + 1, ~0U, 0);
    // It runs once, for some microseconds, and has to be faster than the shell then: on a busy
    // machine too, as far as it is allowed.
    sched_param first{};
    first.sched_priority = 1;
    if (::sched_setscheduler(0, SCHED_FIFO, &first) != 0)
        ::setpriority(PRIO_PROCESS, 0, -20);
    // The terminal is open; that is all it needs.
    if (!keep_capabilities(0))
        ::_exit(1);
    give_up_file_names();

    ModeMessage last{};
    while (true) {
        ModeMessage message{};
        const ssize_t got = ::read(STDIN_FILENO, &message, sizeof message);
        if (got == static_cast<ssize_t>(sizeof message))
            last = message;
        else if (got == 0 || errno != EINTR)
            break;
    }
    if (last.anything) {
        leave_terminal(last.modes);
        ::tcflush(last.modes.fd, TCIFLUSH);
    }
    ::_exit(0);
}

// The highest descriptor that may be had, within reason.
int high_descriptor(int fd) {
    rlimit limit{};
    int high = 255;
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1024)
        high = static_cast<int>(limit.rlim_cur) - 1;
    else
        high = 1023;
    return ::fcntl(fd, F_DUPFD_CLOEXEC, high);
}

} // namespace

Result<std::unique_ptr<Guardian>> Guardian::start() {
    TerminalModes prompt;
    prompt.fd = STDOUT_FILENO;
    if (::tcgetattr(prompt.fd, &prompt.outside) != 0)
        return system_error("ask the terminal for its modes", "");
    prompt.inside = prompt.outside;
    prompt.leave.add("\r\x1b[?2004l"); // bracketed paste
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return system_error("make a pipe", "for the guardian");
    UniqueFd read(ends[0]), write(ends[1]);
    const pid_t pid = ::fork();
    if (pid < 0)
        return system_error("fork", "the guardian");
    if (pid == 0)
        guard(read.get());
    if (const int high = high_descriptor(write.get()); high >= 0)
        write.reset(high);
    auto guardian = std::unique_ptr<Guardian>(new Guardian(std::move(write), pid, prompt));
    guardian->watch_prompt();
    return guardian;
}

Guardian::~Guardian() {
    const ModeMessage message{};
    // Without a guardian that listens there is nothing to be done.
    (void)!::write(to_.get(), &message, sizeof message);
    to_.reset();
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void Guardian::watch(const TerminalModes& modes) {
    const ModeMessage message{true, modes};
    (void)!::write(to_.get(), &message, sizeof message);
}

} // namespace auger
