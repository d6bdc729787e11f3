// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/rule_set.h"

#include "loader/reader/tables/frame_state.h"
#include "loader/unwind/seeded_hash.h"

#include <cstring>

namespace auger {
namespace {

constexpr size_t first_slots = 1024;

} // namespace

RuleSet::RuleSet() : slots_(first_slots), seed_(SeededHash::random_seed()) {
    number(wire_rule(WIRE_CFA_NONE));
    // Always there, so that it can be given when no other can.
    number(wire_rule(WIRE_CFA_UNSUPPORTED));
}

uint32_t RuleSet::number(const wire_unwind_rule& rule) {
    const size_t at = slot(rule);
    if (slots_[at] != 0)
        return slots_[at] - 1;
    if (rules_.size() == WIRE_UNWIND_MAX_RULES)
        return 1;
    rules_.push_back(rule);
    slots_[at] = static_cast<uint32_t>(rules_.size());
    if (rules_.size() * 2 > slots_.size())
        grow();
    return static_cast<uint32_t>(rules_.size()) - 1;
}

// Where the rule is, or is to be put.
size_t RuleSet::slot(const wire_unwind_rule& rule) const {
    uint64_t words[2];
    static_assert(sizeof words == sizeof rule);
    std::memcpy(words, &rule, sizeof words);
    SeededHash hash(seed_);
    hash.add(words[0], words[1]);
    for (uint64_t place = hash.value();; ++place) {
        const size_t at = place & (slots_.size() - 1);
        if (slots_[at] == 0 || std::memcmp(&rules_[slots_[at] - 1], &rule, sizeof rule) == 0)
            return at;
    }
}

void RuleSet::grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (size_t i = 0; i < rules_.size(); ++i)
        slots_[slot(rules_[i])] = static_cast<uint32_t>(i) + 1;
}

} // namespace auger
