// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/terminal/stream_output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace auger {

void StreamOutput::result(std::string_view text) {
    if (diverted_)
        diverted_->result(text);
    else if (failure_ == 0 && !text.empty())
        write(STDOUT_FILENO, text);
}

void StreamOutput::notice(std::string_view line) {
    if (diverted_)
        diverted_->notice(line);
    else
        write(STDERR_FILENO, line);
}

void StreamOutput::error(std::string_view text) {
    if (diverted_)
        diverted_->error(text);
    else
        write(STDERR_FILENO, text);
}

void StreamOutput::around(std::function<void()> before, std::function<void()> after) {
    before_ = std::move(before);
    after_ = std::move(after);
}

void StreamOutput::write(int fd, std::string_view text) {
    before_();
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<size_t>(written));
        } else if (errno == EAGAIN) {
            // Somebody else made the terminal non-blocking; it is shared.
            pollfd writable{fd, POLLOUT, 0};
            ::poll(&writable, 1, -1);
        } else if (errno != EINTR) {
            if (fd == STDOUT_FILENO)
                failure_ = errno;
            break;
        }
    }
    after_();
}

} // namespace auger
