// SPDX-License-Identifier: GPL-3.0-or-later
// The calls that samples and slow calls lie in: one record a call, linked to the call that encloses
// it, so that a sample needs to keep only its innermost one. Spans enclose calls; a call that goes
// on while its thread goes from one span to another has a record in each. A record lives as long as
// a stored sample or slow call (or a call inside it) refers to it.
#pragma once

#include "loader/stream/events.h"
#include "views/model/ended_calls.h"

#include <cstdint>
#include <span>
#include <vector>

namespace auger {

using CallIndex = Id<struct CallIndexTag>;
inline constexpr CallIndex no_call{UINT32_MAX};
inline constexpr LabelId no_label{UINT32_MAX};

struct CallRecord {
    // `filtered`: it ended, and does not count; see CallEndEvent.
    enum class State : uint8_t { open, returned, unwound, filtered };

    uint64_t start_ns = 0;
    uint64_t duration_ns = 0; // valid unless open
    CallIndex parent = no_call;
    CallIndex next = no_call, previous = no_call; // of the same call, in other spans
    uint32_t tid = 0;
    uint32_t sequence = 0;
    SpecId spec;
    // Stored samples and slow calls directly in it, and records of calls inside it.
    uint32_t references = 0;
    uint32_t marks = 0;       // as in CallEndEvent; valid unless open
    LabelId label = no_label; // likewise
    State state = State::open;
    bool marks_known = true; // as in CallEndEvent
    // Of an open one: its end may have come, and be forgotten.
    bool may_have_ended = false;

    bool of_no_thread() const { return (sequence & CallKey::no_thread_bit) != 0; }
};

class CallTable {
  public:
    // The record of the innermost of `calls` (outermost first), made where it is new; no_call when
    // there is none. Takes a reference.
    CallIndex acquire(uint32_t tid, std::span<const CallKey> calls);
    void release(CallIndex);
    // False when nothing that is stored lies in the call. What comes later of one that is no
    // thread's finds it ended.
    bool end(uint32_t tid, const CallEndEvent&);

    const CallRecord& operator[](CallIndex i) const { return records_[i.index()]; }
    // Records, free ones included: an upper bound of every index plus one.
    size_t size() const { return records_.size(); }
    size_t live() const { return live_; }
    size_t memory_bytes() const;

  private:
    // Open addressing, a power of two.
    using Slots = std::vector<CallIndex>;
    using HashOf = uint64_t (CallTable::*)(CallIndex) const;

    static bool is_of(const CallRecord&, uint32_t tid, const CallKey&);
    uint64_t hash_of_call(CallIndex) const;
    uint64_t hash_of_record(CallIndex) const; // of the call and of what is around it
    template <typename Wanted>
    static CallIndex find(const Slots&, uint64_t hash, const Wanted& wanted);
    // The first of the call's records.
    CallIndex find_first(uint32_t tid, const CallKey&) const;
    CallIndex make(uint32_t tid, const CallKey&, CallIndex parent);
    void unlink(CallIndex);
    static void end(CallRecord&, const EndedCalls::End&);
    void end_if_known(CallRecord&, const CallKey&) const;
    void insert(Slots&, size_t held, CallIndex, HashOf) const;
    void erase(Slots&, CallIndex, HashOf) const;
    void place(Slots&, CallIndex, HashOf) const;

    std::vector<CallRecord> records_;
    std::vector<CallIndex> free_;
    Slots slots_;  // of records
    Slots firsts_; // of calls: a long one may have a record in each of very many spans
    size_t live_ = 0, calls_ = 0;
    EndedCalls ended_; // that are no thread's
};

} // namespace auger
