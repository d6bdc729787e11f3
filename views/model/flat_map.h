// SPDX-License-Identifier: GPL-3.0-or-later
// A hash map from 64-bit keys to 32-bit values in one flat array: what interning and folding do for
// every sample or frame must not allocate. Deletion shifts what follows back, so a map that lives
// for days stays as fast as a new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace auger {

class FlatMap {
  public:
    // The value of `key`, which becomes `fresh` where it is new, and whether it was.
    std::pair<uint32_t, bool> find_or_add(uint64_t key, uint32_t fresh) {
        if (size_ * 8 >= slots_.size() * 5)
            grow();
        size_t i = probe(key);
        if (slots_[i].used)
            return {slots_[i].value, false};
        slots_[i] = {key, fresh, true};
        size_++;
        return {fresh, true};
    }
    std::optional<uint32_t> find(uint64_t key) const {
        if (slots_.empty())
            return std::nullopt;
        const Slot& slot = slots_[probe(key)];
        return slot.used ? std::optional(slot.value) : std::nullopt;
    }
    void erase(uint64_t key) {
        if (slots_.empty())
            return;
        size_t mask = slots_.size() - 1, hole = probe(key);
        if (!slots_[hole].used)
            return;
        // Whatever follows without a gap moves up, unless that would put it before its home.
        for (size_t i = (hole + 1) & mask; slots_[i].used; i = (i + 1) & mask) {
            if (((i - home(slots_[i].key)) & mask) >= ((i - hole) & mask)) {
                slots_[hole] = slots_[i];
                hole = i;
            }
        }
        slots_[hole].used = false;
        size_--;
    }
    size_t size() const { return size_; }
    size_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }

  private:
    struct Slot {
        uint64_t key = 0;
        uint32_t value = 0;
        bool used = false;
    };

    size_t home(uint64_t key) const {
        uint64_t hash = (key ^ key >> 29) * 0x9e3779b97f4a7c15;
        return (hash ^ hash >> 32) & (slots_.size() - 1);
    }
    size_t probe(uint64_t key) const {
        size_t mask = slots_.size() - 1;
        size_t i = home(key);
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
