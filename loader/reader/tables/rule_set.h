// SPDX-License-Identifier: GPL-3.0-or-later
// The distinct rules of a table, numbered in the order in which they came. Number 0 is "not
// covered".
#pragma once

#include "bpf/unwind_table.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace auger {

class RuleSet {
  public:
    RuleSet();

    // Of the rule "cannot be said" when there are WIRE_UNWIND_MAX_RULES others.
    uint32_t number(const wire_unwind_rule& rule);
    const std::vector<wire_unwind_rule>& rules() const { return rules_; }

  private:
    size_t slot(const wire_unwind_rule& rule) const;
    void grow();

    std::vector<wire_unwind_rule> rules_;
    std::vector<uint32_t> slots_; // open addressing: number + 1, or 0
    uint64_t seed_;               // so that no file can be made to collide
};

} // namespace auger
