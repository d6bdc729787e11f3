// SPDX-License-Identifier: GPL-3.0-or-later
// A hash map from 64-bit keys to 32-bit values in one flat array: what interning and folding do for
// every sample or frame must not allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace auger {

class FlatMap {
  public:
    // The value of `key`, which becomes `fresh` where it is new, and whether it was.
    std::pair<uint32_t, bool> find_or_add(uint64_t key, uint32_t fresh) {
        if (size_ * 2 >= slots_.size())
            grow();
        size_t i = probe(key);
        if (slots_[i].used)
            return {slots_[i].value, false};
        slots_[i] = {key, fresh, true};
        size_++;
        return {fresh, true};
    }
    size_t size() const { return size_; }

  private:
    struct Slot {
        uint64_t key = 0;
        uint32_t value = 0;
        bool used = false;
    };

    size_t probe(uint64_t key) const {
        uint64_t hash = (key ^ key >> 29) * 0x9e3779b97f4a7c15;
        size_t mask = slots_.size() - 1;
        size_t i = (hash ^ hash >> 32) & mask;
        while (slots_[i].used && slots_[i].key != key)
            i = (i + 1) & mask;
        return i;
    }
    void grow() {
        std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.used)
                slots_[probe(slot.key)] = slot;
    }

    std::vector<Slot> slots_;
    size_t size_ = 0;
};

} // namespace auger
