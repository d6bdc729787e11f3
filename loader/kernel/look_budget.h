// SPDX-License-Identifier: GPL-3.0-or-later
// LookBudget: how much time goes into looks at what is others', of which there may be any number.
#pragma once

#include <algorithm>
#include <cstdint>

namespace auger {

// How much time may go into looks: one part in so many of it, of which some may be saved up.
struct LookPace {
    uint64_t share;
    int64_t most_ns;
};

class LookBudget {
  public:
    bool may_look(uint64_t now_ns, const LookPace& pace) {
        const uint64_t passed = now_ns > since_ns_ ? now_ns - since_ns_ : 0;
        since_ns_ = now_ns;
        left_ns_ = std::min(left_ns_ + static_cast<int64_t>(passed / pace.share), pace.most_ns);
        return left_ns_ > 0;
    }
    void spend(uint64_t ns) { left_ns_ -= static_cast<int64_t>(ns); }
    // For how long may_look() will say no, from when it was asked last.
    uint64_t pause_ns(const LookPace& pace) const {
        return left_ns_ > 0 ? 0 : static_cast<uint64_t>(1 - left_ns_) * pace.share;
    }

  private:
    uint64_t since_ns_ = 0;
    int64_t left_ns_ = 0;
};

} // namespace auger
