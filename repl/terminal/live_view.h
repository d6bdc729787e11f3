// SPDX-License-Identifier: GPL-3.0-or-later
// LiveView: the screen at a terminal. Takes keys and events in turn, draws some ten times a second,
// and has the session run what the screen asks for, as if it had been typed at the prompt. Between
// two runs the screen stays as it was left.
#pragma once

#include "repl/session/session.h"
#include "repl/terminal/guardian.h"
#include "repl/terminal/signals.h"
#include "repl/terminal/stream_output.h"
#include "repl/terminal/terminal_screen.h"
#include "views/screen/screen.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace auger {

class LiveView {
  public:
    // `remember` is told each command that the screen runs; `past` has them all, and those of the
    // prompt, oldest first.
    LiveView(Session& session, StreamOutput& output, Signals& signals, Guardian* guardian,
             std::function<void(const std::string&)> remember,
             std::function<std::vector<std::string>()> past);
    ~LiveView();

    // Returns when the user leaves or auger has to end. Shows the pane of that name, or the one
    // that was shown last. Fails where the terminal cannot do it.
    Result<void> run(const std::string& pane);

  private:
    class Run;

    Session& session_;
    StreamOutput& output_;
    Signals& signals_;
    Guardian* guardian_;
    std::function<void(const std::string&)> remember_;
    std::function<std::vector<std::string>()> past_;
    std::unique_ptr<Screen> screen_; // made when it is first shown
};

} // namespace auger
