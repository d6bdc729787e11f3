// SPDX-License-Identifier: GPL-3.0-or-later
// EndedCalls: how the last calls that are no thread's (spans, exchanges, goroutines' calls) ended.
// A thread's own call ends behind all that happened in it, but a thread may wait on when such a
// call has ended elsewhere, and the sample of its wait comes after the end.
#pragma once

#include "loader/stream/events.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

class EndedCalls {
  public:
    struct End {
        End() = default;
        explicit End(const CallEndEvent& event)
            : call(event.call), duration_ns(event.duration_ns), marks(event.marks),
              label(event.label), marks_known(event.marks_known), filtered(event.filtered),
              unwound(event.unwound) {}

        CallKey call;
        uint64_t duration_ns = 0;
        uint32_t marks = 0; // as in CallEndEvent, as are the rest
        std::optional<LabelId> label;
        bool marks_known = true, filtered = false, unwound = false;
    };

    // The oldest of those that share its place goes, should that have no more room.
    void add(const CallEndEvent&);
    const End* find(const CallKey&) const; // until the next one is added
    // Whether a call that is not found may have ended all the same: its end is too long ago.
    bool may_have_forgotten(uint64_t start_ns) const { return start_ns <= forgotten_start_ns_; }
    size_t memory_bytes() const { return places_.capacity() * sizeof(Place); }

  private:
    // Of a hash: what came last overwrites what came first.
    static constexpr size_t place_count = 1 << 13, ends_per_place = 8;
    struct Place {
        End ends[ends_per_place];
        uint64_t added = 0;
    };
    static size_t place_of(const CallKey&);

    std::vector<Place> places_; // none before the first end
    uint64_t forgotten_start_ns_ = 0;
};

} // namespace auger
