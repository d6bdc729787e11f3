// SPDX-License-Identifier: GPL-3.0-or-later
// Where a session's words go. Everything written ends in a newline and is harmless for a terminal.
#pragma once

#include <string_view>

namespace auger {

class Output {
  public:
    virtual ~Output() = default;
    virtual void result(std::string_view text) = 0; // what a command answers
    virtual void notice(std::string_view line) = 0; // what happened meanwhile
    virtual void error(std::string_view text) = 0;
    // False once nobody reads results any more (a closed pipe).
    virtual bool open() const = 0;
};

// The user's way to end what runs. Level-triggered: stays until taken.
class Interrupts {
  public:
    virtual ~Interrupts() = default;
    // Readable while there is something to take; -1: never.
    virtual int wake_fd() const = 0;
    // Ctrl-C since the last call.
    virtual bool take_interrupt() = 0;
    // SIGTERM or SIGHUP came: auger ends.
    virtual bool stopping() const = 0;
};

} // namespace auger
