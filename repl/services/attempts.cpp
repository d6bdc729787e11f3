// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/attempts.h"

#include <algorithm>

namespace auger {

const Spool::Entry* Attempts::next(const std::deque<Spool::Entry>& waiting, uint64_t now_ns) const {
    if (now_ns < next_ns_)
        return nullptr;
    const Spool::Entry* longest_due = nullptr;
    uint64_t due_ns = UINT64_MAX;
    for (const Spool::Entry& entry : waiting) {
        const auto doubt = doubts_.find(entry.number);
        if (doubt == doubts_.end())
            return &entry;
        if (doubt->second.next_ns <= now_ns && doubt->second.next_ns < due_ns) {
            longest_due = &entry;
            due_ns = doubt->second.next_ns;
        }
    }
    return longest_due;
}

uint64_t Attempts::due_ns(const std::deque<Spool::Entry>& waiting) const {
    uint64_t due_ns = UINT64_MAX;
    for (const Spool::Entry& entry : waiting) {
        const auto doubt = doubts_.find(entry.number);
        due_ns = std::min(due_ns, doubt == doubts_.end() ? 0 : doubt->second.next_ns);
    }
    return std::max(due_ns, next_ns_);
}

void Attempts::busy(uint64_t now_ns, uint64_t asked_s) {
    next_ns_ = now_ns + backoff_.next_ns(asked_s);
}

bool Attempts::doubt(uint64_t number, uint64_t now_ns, uint64_t asked_s) {
    busy(now_ns, asked_s);
    several_fail_ |= failed_.value_or(number) != number;
    failed_ = number;
    const auto seed = static_cast<uint32_t>(seed_ ^ number);
    Doubt& doubt = doubts_.try_emplace(number, now_ns, taken_, Backoff(seed)).first->second;
    doubt.next_ns = now_ns + doubt.backoff.next_ns(asked_s);
    return now_ns - doubt.since_ns >= doubt_ns && taken_ > doubt.taken;
}

} // namespace auger
