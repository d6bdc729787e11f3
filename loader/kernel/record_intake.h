// SPDX-License-Identifier: GPL-3.0-or-later
// RecordIntake: takes in what the kernel has said, in its order: mappings before the samples that
// lie in them, tables for unwinding before the stacks that need them. Changes when the kernel side
// says something new.
#pragma once

#include "loader/base/time_slice.h"
#include "loader/kernel/copied_stacks.h"
#include "loader/kernel/event_ring.h"
#include "loader/kernel/live_events.h"
#include "loader/kernel/live_mappings.h"
#include "loader/kernel/live_unwind.h"
#include "loader/kernel/target_members.h"

#include <cstddef>

namespace auger {

class RecordIntake {
  public:
    RecordIntake(EventRing& ring, LiveMappings& mappings, LiveUnwind& unwind, LiveEvents& events,
                 TargetMembers& members)
        : ring_(ring), mappings_(mappings), unwind_(unwind), events_(events), members_(members),
          copied_stacks_(unwind) {}

    // Takes some of what is there; returns how many records and changes that were.
    size_t deliver(const TimeSlice&);
    // Of mappings alone; returns how many.
    size_t deliver_changes();
    // Nothing more comes.
    void end() { events_.on_end(); }
    // All that was written before then has been handed over.
    uint64_t heard_ns() const { return heard_ns_; }
    // Whether samples from before then may be in the ring, or on their way there.
    bool misses_samples_before(uint64_t time_ns) const { return heard_ns_ < time_ns + writing_ns; }
    // Whether some of what was there is left.
    bool more() const { return ring_.more(); }
    // Whether a record waits for a table that is being made, and others behind it.
    bool waiting() const { return copied_stacks_.waiting(); }

  private:
    // How long the kernel side may take from a sample's time to its record in the ring: a walk
    // takes less than a millisecond. A wait has the time of its end, and is written when its thread
    // has a CPU again, which may take longer.
    static constexpr uint64_t writing_ns = 100'000'000;

    bool take(WireView& view);

    EventRing& ring_;
    LiveMappings& mappings_;
    LiveUnwind& unwind_;
    LiveEvents& events_;
    TargetMembers& members_;
    CopiedStacks copied_stacks_;
    uint64_t heard_ns_ = 0;
};

} // namespace auger
