// SPDX-License-Identifier: GPL-3.0-or-later
// GoLabelWords: the words of a stack that tell of a goroutine's label (bpf/wire/go_labels.h), put
// together. Their text is the process's, and may be anything.
#pragma once

#include <cstdint>
#include <string>

namespace auger {

class GoLabelWords {
  public:
    static bool is_one(uint64_t first);

    void add(uint64_t first, uint64_t second);
    bool empty() const { return key_.empty(); }
    // "route=/quote", or "route unreadable"; empty: the words were of no label, or it is empty.
    // Begins anew.
    std::string take();

  private:
    std::string key_;
    std::string value_;
    uint64_t last_ = 0; // number of the pair that came last
    bool unreadable_ = false;
};

} // namespace auger
