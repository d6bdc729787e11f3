// SPDX-License-Identifier: GPL-3.0-or-later
// A script on standard input: each line runs when it has come, and events are delivered meanwhile.
#include "repl/language/lexer.h"
#include "repl/language/script.h"
#include "repl/terminal/console.h"
#include "repl/terminal/signals.h"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace auger {
namespace {

// True when there is something to read (or the input has ended).
bool input_ready(int timeout_ms) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ::poll(&input, 1, timeout_ms) > 0;
}

} // namespace

std::optional<Error::Kind> run_stdin(Session& session, StreamOutput& output, Signals& signals) {
    std::string pending;
    size_t number = 0;
    bool ended = false, pumping = session.live();
    std::optional<Error::Kind> failure;
    while (!session.quitting() && !signals.stopping() && output.open()) {
        const size_t end = pending.find('\n');
        if (end != std::string::npos || (ended && !pending.empty()) ||
            pending.size() > line_limit + 1) {
            const size_t length = std::min(end, pending.size());
            // Of one line; script_lines takes care of a byte order mark and of '\r'.
            std::string text = pending.substr(0, length);
            if (number > 0 && text.starts_with("\xEF\xBB\xBF"))
                text.insert(0, "\xEF\xBB\xBF"); // only the first line's mark is one
            auto lines = script_lines("stdin", text);
            pending.erase(0, std::min(length + 1, pending.size()));
            ++number;
            for (ScriptLine& line : lines)
                line.number = number;
            const auto failed = session.run(lines);
            if (failed && !failure)
                failure = failed;
            if (failed && !session.keeps_going())
                return failure;
            continue;
        }
        if (ended || signals.take_interrupt())
            break;
        bool ready = input_ready(0);
        if (!ready && pumping) {
            auto more = session.pump(signal_interval, STDIN_FILENO);
            pumping = more && *more;
            ready = input_ready(0);
        } else if (!ready) {
            session.tend();
            ready = input_ready(static_cast<int>(signal_interval.count()));
            pumping = session.live();
        }
        if (!ready)
            continue;
        char buffer[65536];
        const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
            output.error(fmt::format("error: read standard input: {}\n", std::strerror(errno)));
            return failure ? failure : Error::Kind::failed;
        }
        if (got == 0)
            ended = true;
        else if (got > 0)
            pending.append(buffer, static_cast<size_t>(got));
    }
    return failure;
}

} // namespace auger
