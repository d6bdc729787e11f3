// SPDX-License-Identifier: GPL-3.0-or-later
// AnswerTime: how long who asks something of files waits for the answers. Changes when somebody
// else is to be waited for, or longer.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace auger {

class AnswerTime {
  public:
    using Clock = std::chrono::steady_clock;

    // As long as they take: a script goes on with what has come of them.
    static AnswerTime endless() { return {}; }
    // Somebody waits at a terminal: for files that only root and our user can have written, as long
    // as they take; for all others' together less than a second.
    static AnswerTime of_terminal() { return {std::chrono::milliseconds(800), true}; }
    // Who has other things to do, and comes back when the answers are there.
    static AnswerTime of_loop() { return {std::chrono::milliseconds(30), false}; }

    // Until when the next answer is waited for; nothing: as long as it takes. Half of what is left:
    // so answers that never come, however many, leave time for others.
    std::optional<Clock::time_point> until(bool trusted) const {
        if (!end_ || (trusted && trusted_are_waited_for_))
            return std::nullopt;
        const auto now = Clock::now();
        return now + std::max(*end_ - now, Clock::duration(0)) / 2;
    }
    // Whether somebody waits for a process that has been waited for in vain before.
    bool waits_again() const { return !end_ || trusted_are_waited_for_; }

  private:
    AnswerTime() = default;
    AnswerTime(Clock::duration all, bool trusted_are_waited_for)
        : end_(Clock::now() + all), trusted_are_waited_for_(trusted_are_waited_for) {}

    std::optional<Clock::time_point> end_; // nothing: endless
    bool trusted_are_waited_for_ = false;
};

} // namespace auger
