// SPDX-License-Identifier: GPL-3.0-or-later
// ReadingBudget: how much one answer reads of what there may be a great number of, where each takes
// a bounded time: so many, and as far as there is time for from the first one on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace auger {

class ReadingBudget {
  public:
    enum class Left { some, no_number, no_time };

    ReadingBudget(size_t number, uint64_t time_ns) : number_(number), time_ns_(time_ns) {}

    // Asked before each; what is left then.
    Left take(uint64_t now_ns) {
        if (!begin_ns_)
            begin_ns_ = now_ns;
        if (number_ == 0)
            return Left::no_number;
        if (now_ns - begin_ns_ > time_ns_)
            return Left::no_time;
        number_--;
        return Left::some;
    }

  private:
    size_t number_;
    uint64_t time_ns_;
    uint64_t begin_ns_ = 0; // of the first; 0: there was none
};

} // namespace auger
