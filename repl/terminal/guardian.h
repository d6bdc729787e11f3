// SPDX-License-Identifier: GPL-3.0-or-later
// Guardian: a process that does nothing but wait for auger's end, and puts the terminal back when
// auger could not do so itself (SIGKILL, out of memory). It is made before there is anything of the
// kernel's to hold, so that nothing stays attached because of it.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "repl/terminal/terminal_modes.h"

#include <sys/types.h>

#include <memory>

namespace auger {

class Guardian {
  public:
    // Of the terminal that is standard output; its present modes are those of the prompt's user.
    static Result<std::unique_ptr<Guardian>> start();
    // Nothing is to be put back any more.
    ~Guardian();
    Guardian(const Guardian&) = delete;
    Guardian& operator=(const Guardian&) = delete;

    // What is put back from now on: what a view changes, or what the prompt changes.
    void watch(const TerminalModes& modes);
    void watch_prompt() { watch(prompt_); }

  private:
    Guardian(UniqueFd to, pid_t pid, const TerminalModes& prompt)
        : to_(std::move(to)), pid_(pid), prompt_(prompt) {}

    UniqueFd to_;
    pid_t pid_;
    TerminalModes prompt_;
};

} // namespace auger
