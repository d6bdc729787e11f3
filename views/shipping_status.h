// SPDX-License-Identifier: GPL-3.0-or-later
// What became of the intervals that were to be shipped, for `status` and metrics.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace auger {

struct ShippingStatus {
    struct Count {
        uint64_t intervals = 0, samples = 0;
        void add(uint64_t more_samples) {
            intervals++;
            samples += more_samples;
        }
        friend bool operator==(const Count&, const Count&) = default;
    };

    std::string receiver{}; // "otlp http://collector:4318"; empty: nothing is shipped
    // found + written = shipped + refused + given up + waiting
    Count found{};    // in the spool, at the beginning
    Count written{};  // since then
    Count shipped{};  // that the receiver has taken
    Count refused{};  // that it will never take
    Count given_up{}; // that were too old or too many
    Count waiting{};
    uint64_t unwritten = 0; // intervals that could not be put into the spool, and are lost
    uint64_t evicted = 0;   // samples that left the store before their interval was written
    uint64_t late = 0;      // samples that came after their interval was written
    uint64_t rejected = 0;  // parts of what was taken, that the receiver left out
    uint64_t bytes = 0;     // of the spool
    std::string problem{};  // why nothing is taken now; of the receiver's text, as it came

    // Each with its name.
    std::array<std::pair<std::string_view, Count>, 6> counts() const {
        return {{{"found", found},
                 {"written", written},
                 {"shipped", shipped},
                 {"refused", refused},
                 {"given_up", given_up},
                 {"waiting", waiting}}};
    }
    bool adds_up() const {
        const auto holds = [&](uint64_t Count::*of) {
            return found.*of + written.*of ==
                   shipped.*of + refused.*of + given_up.*of + waiting.*of;
        };
        return holds(&Count::intervals) && holds(&Count::samples);
    }
};

} // namespace auger
