// SPDX-License-Identifier: GPL-3.0-or-later
// Generations: a map that forgets what nobody asked for lately, so that it grows with what is in
// use and not with how long it goes on. Changes with what is worth remembering.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>

namespace auger {

template <typename Key, typename Value>
class Generations {
  public:
    // Null: unknown, or forgotten. It is remembered anew.
    Value* find(const Key& key) {
        if (const auto known = young_.find(key); known != young_.end())
            return &known->second;
        const auto before = old_.find(key);
        if (before == old_.end())
            return nullptr;
        auto moved = old_.extract(before);
        return &young_.insert(std::move(moved)).position->second;
    }
    Value& insert(const Key& key, Value value) {
        return young_.insert_or_assign(key, std::move(value)).first->second;
    }
    // What was not asked for since the last call is forgotten.
    void age() { old_ = std::exchange(young_, {}); }
    void clear() {
        young_.clear();
        old_.clear();
    }
    size_t size() const { return young_.size() + old_.size(); }

  private:
    std::unordered_map<Key, Value> young_, old_;
};

} // namespace auger
