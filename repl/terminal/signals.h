// SPDX-License-Identifier: GPL-3.0-or-later
// Signals as something to read: Ctrl-C ends the command that runs, SIGTERM and SIGHUP end auger.
// One per process.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "repl/session/output.h"

#include <chrono>
#include <memory>

namespace auger {

// How often who waits for input looks at signals, too.
inline constexpr std::chrono::milliseconds signal_interval{100};

class Signals final : public Interrupts {
  public:
    // Installs handlers; they do not outlive an exec, so commands that auger starts are unaffected.
    static Result<std::unique_ptr<Signals>> install();
    ~Signals() override;

    int wake_fd() const override { return read_.get(); }
    bool take_interrupt() override;
    bool stopping() const override;
    // Whether one of the two is to be taken.
    bool pending() const;
    // The window has another size, or auger was continued after Ctrl-Z, since the last call.
    bool take_redraw();

  private:
    Signals(UniqueFd read, UniqueFd write) : read_(std::move(read)), write_(std::move(write)) {}
    void drain() const;

    UniqueFd read_;
    UniqueFd write_;
};

} // namespace auger
