// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/agent_output.h"

#include "loader/process/capabilities.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace auger::remote {

AgentOutput::AgentOutput(int fd) : fd_(fd), waiting_(preamble) {
    ::fcntl(fd_, F_SETFL, ::fcntl(fd_, F_GETFL) | O_NONBLOCK);
    signs_of_life_ = std::thread([this] {
        begin_thread("auger-alive", 0);
        give_signs_of_life();
    });
}

AgentOutput::~AgentOutput() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    ended_.notify_all();
    signs_of_life_.join();
}

void AgentOutput::put(FrameKind kind, std::string_view body) {
    const std::lock_guard lock(mutex_);
    said_something_ = true;
    put_frame(waiting_, kind, body);
}

bool AgentOutput::flush() {
    const std::lock_guard lock(mutex_);
    return flush_locked();
}

bool AgentOutput::flush_locked() {
    while (open_ && at_ < waiting_.size()) {
        const ssize_t written = ::write(fd_, waiting_.data() + at_, waiting_.size() - at_);
        if (written > 0)
            at_ += static_cast<size_t>(written);
        else if (written < 0 && errno == EINTR)
            continue;
        else if (written < 0 && errno == EAGAIN)
            break;
        else
            open_ = false;
    }
    if (at_ == waiting_.size() || at_ > crowded_bytes) {
        waiting_.erase(0, at_);
        at_ = 0;
    }
    return open_ && waiting_.size() - at_ <= most_bytes;
}

size_t AgentOutput::bytes() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size() - at_;
}

bool AgentOutput::crowded() {
    const std::lock_guard lock(mutex_);
    const size_t waiting = waiting_.size() - at_;
    crowded_ = waiting > (crowded_ ? crowded_bytes / 2 : crowded_bytes);
    return crowded_;
}

// While the agent itself comes round to it there is nothing to do.
void AgentOutput::give_signs_of_life() {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, sign_of_life, [this] { return ending_; })) {
        if (!said_something_ && at_ == waiting_.size()) {
            put_frame(waiting_, FrameKind::working, {});
            flush_locked();
        }
        said_something_ = false;
    }
}

} // namespace auger::remote
