// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/terminal/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace auger {
namespace {

// Written by handlers: lock-free, and touched by nothing else at the same time.
std::atomic<bool> interrupted{false};
std::atomic<bool> stop{false};
std::atomic<bool> redraw{false};
std::atomic<int> wake{-1};

void handle(int signal) {
    const int saved = errno;
    if (signal == SIGINT)
        interrupted = true;
    else if (signal == SIGTERM || signal == SIGHUP)
        stop = true;
    else if (signal == SIGCONT || signal == SIGWINCH)
        redraw = true;
    // A full pipe is as readable as it can be. SIGPIPE needs no more than not to kill.
    if (signal != SIGPIPE && wake >= 0)
        (void)!::write(wake, "", 1);
    errno = saved;
}

constexpr std::array<int, 6> handled{SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCONT, SIGWINCH};

} // namespace

Result<std::unique_ptr<Signals>> Signals::install() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return system_error("make a pipe", "for signals");
    auto signals = std::unique_ptr<Signals>(new Signals(UniqueFd(ends[0]), UniqueFd(ends[1])));
    wake = ends[1];
    for (const int signal : handled) {
        // A shell's `nohup` or `&` asked for these to be ignored.
        struct sigaction old {};
        if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN &&
            (signal == SIGHUP || signal == SIGINT))
            continue;
        struct sigaction action {};
        action.sa_handler = handle;
        action.sa_flags = SA_RESTART;
        ::sigaction(signal, &action, nullptr);
    }
    return signals;
}

Signals::~Signals() {
    wake = -1;
}

void Signals::drain() const {
    char bytes[64];
    while (::read(read_.get(), bytes, sizeof bytes) > 0) {
    }
}

bool Signals::take_interrupt() {
    // While auger is to stop, the pipe stays readable, so that nothing starts to wait again.
    if (!stop)
        drain();
    return interrupted.exchange(false);
}

bool Signals::stopping() const {
    return stop;
}

bool Signals::pending() const {
    return interrupted || stop;
}

bool Signals::take_redraw() {
    return redraw.exchange(false);
}

} // namespace auger
