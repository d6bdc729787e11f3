// SPDX-License-Identifier: GPL-3.0-or-later
// A hash of 64 bits that depends on a secret number, so that nobody who does not know it can make
// two inputs of one hash. For tables and checks, not for signatures.
#pragma once

#include "loader/unwind/byte_cursor.h"

#include <algorithm>
#include <random>

namespace auger {

class SeededHash {
  public:
    explicit SeededHash(uint64_t seed) : seed_(seed | 1), state_(seed_) {}

    static uint64_t random_seed() {
        std::random_device random;
        return uint64_t{random()} << 32 | random();
    }

    void add(uint64_t a, uint64_t b) {
        const auto product = static_cast<unsigned __int128>(state_ ^ a) * (b ^ seed_);
        state_ = (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64)) * odd + a;
    }
    // The same bytes in other pieces give another hash.
    void add(Bytes bytes) {
        add(bytes.size(), 0);
        for (; bytes.size() >= 16; bytes = bytes.subspan(16))
            add(word(bytes.first(8)), word(bytes.subspan(8, 8)));
        add(word(bytes.first(std::min<size_t>(bytes.size(), 8))),
            bytes.size() > 8 ? word(bytes.subspan(8)) : 0);
    }
    uint64_t value() const { return (state_ ^ state_ >> 32) * odd; }

  private:
    static constexpr uint64_t odd = 0x9e3779b97f4a7c15;

    static uint64_t word(Bytes bytes) {
        uint64_t value = 0;
        if (!bytes.empty())
            std::memcpy(&value, bytes.data(), bytes.size());
        return value;
    }

    uint64_t seed_;
    uint64_t state_;
};

} // namespace auger
