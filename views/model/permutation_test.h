// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the calls of one class have more of something than those of another, by calls: if the
// class made no difference, any choice of as many calls would be as likely as the one that was
// found. The probability that such a choice has at least as large a sum is the p-value: exact for
// few calls, else by a saddlepoint approximation of the same probability. Nothing is supposed about
// how the sums are distributed, so three calls can be evidence, and one long call is none.
#pragma once

#include <cstdint>
#include <span>

namespace auger {

// Calls of either class that have about this much of it.
struct CallsOfValue {
    double value = 0; // > 0
    uint32_t first = 0;
    uint32_t second = 0;
};

// Two-sided: twice the smaller side's, at most 1. `calls_*` are all calls of the class, those that
// have nothing of it included; values in any order, each once.
double permutation_p(std::span<const CallsOfValue> values, uint64_t calls_first,
                     uint64_t calls_second);
// The least p-value that these values could have, however they were spread over the classes.
double least_permutation_p(std::span<const CallsOfValue> values, uint64_t calls_first,
                           uint64_t calls_second);

} // namespace auger
