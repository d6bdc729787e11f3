// SPDX-License-Identifier: GPL-3.0-or-later
// Agent: the other end of `auger -H`: does on its backend what a console asks for, and tells it
// what is observed. It takes edits and questions, and nothing that names a file to be written or a
// command to be run. Agent is pure but for its backend: bytes go in, frames out; serve_agent() is
// the loop around it. Changes when a console may ask for something else.
#pragma once

#include "loader/backend.h"
#include "loader/remote/agent_output.h"
#include "loader/remote/agent_stream.h"
#include "loader/remote/frames.h"
#include "loader/remote/messages.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace auger::remote {

// Makes what observes this machine.
using OpenBackend = std::function<Result<std::unique_ptr<Backend>>(const OpenRequest&, EventSink&)>;

class Agent {
  public:
    // `program` is what it calls itself; `relays`: its backend is one over hosts.
    Agent(std::string program, OpenBackend open, AgentOutput& output, bool relays = false);
    ~Agent();
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    // What the console says. False: it is over, because that is none of a console's.
    bool take(std::string_view bytes);
    // Lets the backend work, or waits; tells what has come. `wake_fd` ends the wait. False: over.
    bool work(std::chrono::nanoseconds timeout, int wake_fd);
    // Whether it observes for a console that has said nothing for so long: consoles ping.
    bool is_alone(std::chrono::nanoseconds silence) const;

  private:
    bool take(const ReceivedFrame& frame);
    bool open(const OpenRequest& request);
    Result<std::string> answer(const Request& request);
    void tell_stream();
    void tell_state();
    bool end(const Error& error);

    const bool relays_;
    const Hello hello_;
    const OpenBackend open_;
    AgentOutput& output_;
    AgentStream stream_;
    FrameReader frames_;
    std::optional<Agreement> agreement_;
    std::unique_ptr<Backend> backend_;
    bool ended_ = false;    // the target
    bool told_end_ = false; // likewise
    std::string told_state_;
    uint64_t state_ns_ = 0; // when it was looked at last
    uint64_t heard_ns_ = 0; // when the console said something
};

// A console that is gone without a word, as when its machine has lost power, is noticed by ssh or
// kubectl much later than by its pings.
inline constexpr std::chrono::seconds longest_silence{120};

// Until the console's end of the pipe is closed, or what comes is none of a console's, or nothing
// comes for so long. Fails when there is no pipe.
Result<void> serve_agent(std::string program, OpenBackend open, int in, int out,
                         bool relays = false, std::chrono::nanoseconds silence = longest_silence);

} // namespace auger::remote
