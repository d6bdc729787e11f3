// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/terminal/pick_process.h"

#include "repl/terminal/terminal_screen.h"
#include "views/screen/process_picker.h"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

namespace auger {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds first_look{300}; // what processes do is known after the second one
constexpr milliseconds look_every{1500};

// The terminal is the guardian's to put back meanwhile.
class Watched {
  public:
    Watched(Guardian& guardian, const TerminalModes& modes) : guardian_(guardian), keeper_(modes) {
        guardian_.watch(modes);
    }
    ~Watched() { guardian_.watch_prompt(); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

  private:
    Guardian& guardian_;
    ModesKeeper keeper_;
};

} // namespace

Result<std::optional<pid_t>> pick_process(Signals& signals, Guardian& guardian) {
    auto opened = TerminalScreen::open();
    if (!opened)
        return opened.error();
    const std::unique_ptr<TerminalScreen> terminal = std::move(*opened);
    const Watched watched(guardian, terminal->modes());
    ProcessActivities activities;
    ProcessPicker picker;
    picker.update(activities.look());
    auto look = steady_clock::now() + first_look;
    for (;;) {
        if (signals.stopping() || signals.take_interrupt())
            return std::optional<pid_t>();
        if (signals.take_redraw())
            terminal->renew();
        while (const auto key = terminal->next_key()) {
            if (key->code == Key::Code::character && key->control && key->character == 'z') {
                ::raise(SIGTSTP);
                terminal->renew();
                continue;
            }
            const ProcessPicker::Outcome outcome = picker.press(*key);
            if (outcome == ProcessPicker::Outcome::left)
                return std::optional<pid_t>();
            if (outcome == ProcessPicker::Outcome::chosen)
                return std::optional(picker.chosen()->pid);
        }
        if (steady_clock::now() >= look) {
            picker.update(activities.look());
            look = steady_clock::now() + look_every;
        }
        terminal->show(picker.draw(terminal->width(), terminal->height()));
        pollfd input{STDIN_FILENO, POLLIN, 0};
        if (::poll(&input, 1, static_cast<int>(signal_interval.count())) > 0 &&
            (input.revents & POLLIN) == 0)
            return std::optional<pid_t>(); // the terminal is gone
    }
}

} // namespace auger
