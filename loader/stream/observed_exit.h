// SPDX-License-Identifier: GPL-3.0-or-later
// ObservedExit: how the ends of a function's calls are seen, with the text that stands for it in
// recordings and for people. Changes when there is another way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace auger {

class ObservedExit {
  public:
    enum class Kind : uint8_t {
        exit_instructions, // "ret", with cheap ones "ret (cheap)" or "ret (2 of 3 cheap)"
        return_probe,      // "trampoline"
        call_site,         // behind a call instruction
        // Of functions that end by jumps to others: what they jump to is timed with them where the
        // call instructions are known that call them, or never.
        in_callers,
        without_tail,
        in_callees, // ... or at the ends of those
        span,       // of a span, which has no code of its own
        span_point, // one of its points
        count,      // of a place that is reached: there are no calls
        other,      // of a recording: a text that says nothing to us
    };

    // `detail`: of functions that end by jumps what they jump to, names separated by commas, as far
    // as it is known; of exit instructions which of them are cheap: "cheap", "2 of 3 cheap"; of
    // `other` the text.
    ObservedExit(Kind kind = Kind::other, std::string detail = {})
        : kind_(kind), detail_(std::move(detail)) {}
    // Gives text() back.
    static ObservedExit parse(std::string_view text);

    Kind kind() const { return kind_; }
    // Empty where it is not known, or there is nothing.
    std::string_view jumps_to() const {
        return may_jump() ? std::string_view(detail_) : std::string_view();
    }
    std::string text() const; // raw where it is a recording's: escape at output

    friend bool operator==(const ObservedExit&, const ObservedExit&) = default;

  private:
    bool may_jump() const {
        return kind_ == Kind::in_callers || kind_ == Kind::without_tail ||
               kind_ == Kind::in_callees;
    }

    Kind kind_;
    std::string detail_;
};

} // namespace auger
