// SPDX-License-Identifier: GPL-3.0-or-later
// TraceLinks: which trace samples belong to, as far as their calls tell: a slow call shows it, or
// the split is by it. Changes when something else tells it.
#pragma once

#include "views/model/model.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace auger {

struct TraceLink {
    std::string trace; // 32 hexadecimal digits
    std::string span;  // 16; empty: not known
    friend bool operator==(const TraceLink&, const TraceLink&) = default;
};

class TraceLinks {
  public:
    explicit TraceLinks(const Model& model);

    // Of samples in the call: of the innermost one around them that tells it; 0: none does.
    uint32_t of(CallIndex call) const;
    const TraceLink& operator[](uint32_t number) const { return links_[number - 1]; }

  private:
    uint32_t enter(TraceLink link);
    uint32_t of_label(const CallRecord& call) const;

    const Model& model_;
    std::vector<TraceLink> links_;
    std::unordered_map<std::string, uint32_t> numbers_; // by both ids
    std::unordered_map<size_t, uint32_t> of_calls_;     // by CallIndex
    std::vector<uint32_t> of_labels_;                   // by LabelId
};

// The bytes that such digits stand for.
std::string id_bytes(const std::string& digits);

} // namespace auger
