// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/terminal/terminal_modes.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace auger {
namespace {

constexpr std::array<int, 8> fatal{SIGSEGV, SIGBUS, SIGILL,  SIGFPE,
                                   SIGABRT, SIGSYS, SIGTRAP, SIGQUIT};

// Written before handlers are set, read by them.
TerminalModes kept;
std::array<struct sigaction, fatal.size()> fatal_before;
struct sigaction suspend_before;
// A stack of its own: the fault may be that the other one is used up.
std::array<char, 65536> fault_stack;

void write_all(int fd, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written > 0) {
            text.remove_prefix(static_cast<size_t>(written));
        } else if (errno == EAGAIN) {
            // Somebody else made the terminal non-blocking; but it may take nothing for ever.
            pollfd writable{fd, POLLOUT, 0};
            if (::poll(&writable, 1, 1000) <= 0)
                return;
        } else if (errno != EINTR) {
            return;
        }
    }
}

void on_fault(int signal) {
    leave_terminal(kept);
    // What the mouse still reports is not for the shell.
    ::tcflush(kept.fd, TCIFLUSH);
    // The handler is gone (SA_RESETHAND): this ends auger as soon as it returns.
    ::raise(signal);
}

void on_suspend(int) {
    const int saved = errno;
    leave_terminal(kept);
    struct sigaction handler {};
    struct sigaction stop {};
    stop.sa_handler = SIG_DFL;
    ::sigaction(SIGTSTP, &stop, &handler);
    sigset_t suspend, before;
    sigemptyset(&suspend);
    sigaddset(&suspend, SIGTSTP);
    ::raise(SIGTSTP);
    ::pthread_sigmask(SIG_UNBLOCK, &suspend, &before); // stops here
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::sigaction(SIGTSTP, &handler, nullptr);
    enter_terminal(kept);
    errno = saved;
}

} // namespace

void ModeBytes::add(std::string_view text) {
    if (text.size() > bytes_.size() - size_)
        return;
    std::copy(text.begin(), text.end(), bytes_.begin() + static_cast<ptrdiff_t>(size_));
    size_ += text.size();
}

void enter_terminal(const TerminalModes& modes) noexcept {
    ::tcsetattr(modes.fd, TCSANOW, &modes.inside);
    write_all(modes.fd, modes.enter.text());
}

void leave_terminal(const TerminalModes& modes) noexcept {
    write_all(modes.fd, modes.leave.text());
    ::tcsetattr(modes.fd, TCSANOW, &modes.outside);
}

ModesKeeper::ModesKeeper(const TerminalModes& modes) {
    kept = modes;
    stack_t stack{};
    stack.ss_sp = fault_stack.data();
    stack.ss_size = fault_stack.size();
    ::sigaltstack(&stack, nullptr);
    for (size_t i = 0; i < fatal.size(); ++i) {
        ::sigaction(fatal[i], nullptr, &fatal_before[i]);
        if (fatal_before[i].sa_handler != SIG_DFL)
            continue; // a sanitizer's report is worth more
        struct sigaction action {};
        action.sa_handler = on_fault;
        action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
        ::sigaction(fatal[i], &action, nullptr);
    }
    ::sigaction(SIGTSTP, nullptr, &suspend_before);
    if (suspend_before.sa_handler == SIG_IGN)
        return; // no shell that could continue auger
    struct sigaction action {};
    action.sa_handler = on_suspend;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGTSTP, &action, nullptr);
}

ModesKeeper::~ModesKeeper() {
    ::sigaction(SIGTSTP, &suspend_before, nullptr);
    for (size_t i = 0; i < fatal.size(); ++i)
        ::sigaction(fatal[i], &fatal_before[i], nullptr);
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
}

} // namespace auger
