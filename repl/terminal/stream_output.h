// SPDX-License-Identifier: GPL-3.0-or-later
// Output on standard output and standard error.
#pragma once

#include "repl/session/output.h"

#include <functional>

namespace auger {

class StreamOutput : public Output {
  public:
    void result(std::string_view text) override;
    void notice(std::string_view line) override;
    void error(std::string_view text) override;
    bool open() const override { return failure_ == 0; }

    // Why standard output takes nothing any more; 0: it does.
    int failure() const { return failure_; }
    // Called around everything that is written, to keep a prompt whole.
    void around(std::function<void()> before, std::function<void()> after);
    // Everything goes there while it is not null: the terminal belongs to a view.
    void divert(Output* to) { diverted_ = to; }

  private:
    void write(int fd, std::string_view text);

    int failure_ = 0; // errno
    Output* diverted_ = nullptr;
    std::function<void()> before_ = [] {};
    std::function<void()> after_ = [] {};
};

} // namespace auger
