// SPDX-License-Identifier: GPL-3.0-or-later
// AgentOutput: what an agent has to say, as far as the pipe has not taken it yet, and a thread that
// gives signs of life while the agent is at work on something that takes long. Changes when the
// agent's end of the pipe is to be treated in another way.
#pragma once

#include "loader/remote/frames.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace auger::remote {

class AgentOutput {
  public:
    // Beyond this much that nobody reads samples are dropped, until half of it is left; and beyond
    // that the agent ends, since what is left is what may not be dropped.
    static constexpr size_t crowded_bytes = 4 << 20, most_bytes = 64 << 20;

    // `fd` is made non-blocking, and stays the caller's.
    explicit AgentOutput(int fd);
    ~AgentOutput();
    AgentOutput(const AgentOutput&) = delete;
    AgentOutput& operator=(const AgentOutput&) = delete;

    void put(FrameKind kind, std::string_view body);
    // As much as the pipe takes now. False: nobody reads it any more.
    bool flush();
    size_t bytes() const; // that wait
    bool crowded();

  private:
    bool flush_locked();
    void give_signs_of_life();

    const int fd_;
    mutable std::mutex mutex_; // of what follows
    std::condition_variable ended_;
    std::string waiting_;
    size_t at_ = 0; // where it goes on
    bool open_ = true;
    bool said_something_ = false; // since the thread looked
    bool ending_ = false;
    bool crowded_ = false;
    std::thread signs_of_life_;
};

} // namespace auger::remote
