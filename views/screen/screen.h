// SPDX-License-Identifier: GPL-3.0-or-later
// Screen: all that the live view shows and what every key does, without a terminal: keys in, canvas
// and commands out. What it asks for is done by the session, as if it had been typed at the prompt.
#pragma once

#include "loader/reports/host_report.h"
#include "loader/reports/symbol_progress.h"
#include "views/canvas.h"
#include "views/model/model.h"
#include "views/screen/key.h"
#include "views/screen/line_editor.h"
#include "views/screen/pane.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace auger {

struct ScreenOptions {
    bool unicode = true;
    // The text of a source file; told why not otherwise.
    std::function<Result<std::string>(const std::string& path)> read_source;
    // What a command that is being typed may go on with; null: nothing is known.
    CompleteLine complete{};
    // Commands that were typed before, oldest first; null: those of this screen.
    std::function<std::vector<std::string>()> past_commands{};
};

// What the session has in force; told before each refresh.
struct ScreenState {
    Window window;
    std::string target;  // "nginx", as described to the user
    double rate_hz = 0;  // 0: not sampling
    double overhead = 0; // CPU time of auger and its programs, as a share of one CPU
    SymbolProgress symbols;
    bool replaying = false;
    bool ended = false;              // nothing more will come
    std::string filter{};            // in force, as `filter` says it; empty: none
    std::vector<HostReport> hosts{}; // that agents observe; none: it is this machine
    std::string spans_of{}; // programs whose requests `span auto` times; empty: none is known
};

// What the terminal's side has to do.
struct Request {
    enum class Kind : uint8_t {
        run,     // a command; its answer goes to answer()
        leave,   // to the prompt
        suspend, // stop the process until it is continued
        redraw,  // everything, whatever the terminal shows
    };
    Kind kind = Kind::run;
    std::string line;
};

// What a command said.
struct Answer {
    std::string line; // the command
    std::string text; // its result, or the error
    bool failed = false;
};

class Screen {
  public:
    Screen(const Model&, ScreenOptions);
    ~Screen();

    // Brings a pane to the front by its name; false when there is none.
    bool show(std::string_view pane);
    static std::vector<std::string_view> pane_names();

    // Takes in what came, until the slice is over; returns whether something is left.
    bool refresh(const ScreenState&, const TimeSlice&);
    Canvas draw(size_t width, size_t height);
    std::vector<Request> press(const Key&);
    void answer(const Answer&);
    void notice(std::string_view line);

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

} // namespace auger
