// SPDX-License-Identifier: GPL-3.0-or-later
// Strings of bytes by number, as profile formats refer to them: each once, in the order in which
// they came first. Number 0 is the empty one.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace auger {

class NumberedStrings {
  public:
    NumberedStrings() { (*this)({}); }

    int32_t operator()(std::string bytes) {
        const auto [entry, is_new] =
            numbers_.try_emplace(std::move(bytes), static_cast<int32_t>(order_.size()));
        if (is_new)
            order_.push_back(&entry->first);
        return entry->second;
    }
    const std::vector<const std::string*>& all() const { return order_; }

  private:
    std::unordered_map<std::string, int32_t> numbers_;
    std::vector<const std::string*> order_; // keys of numbers_, whose addresses are stable
};

} // namespace auger
