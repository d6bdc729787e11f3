// SPDX-License-Identifier: GPL-3.0-or-later
// Attempts: which of the intervals that wait is sent next, and when: the oldest first, but for
// those in doubt, of which the receiver may take no attempt while it takes others. Those are tried
// again when none else is to be, each after a while, and are given up in the end.
#pragma once

#include "repl/services/backoff.h"
#include "repl/services/spool.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace auger {

class Attempts {
  public:
    // That an interval is tried again.
    static constexpr uint64_t doubt_ns = 3'600 * second_ns;

    explicit Attempts(uint32_t seed) : seed_(seed), backoff_(seed) {}
    void reset() { *this = Attempts(seed_); }

    // Of those that wait, the oldest first. Null: none is to be sent now.
    const Spool::Entry* next(const std::deque<Spool::Entry>& waiting, uint64_t now_ns) const;
    // When there will be one, should none come; UINT64_MAX: none waits.
    uint64_t due_ns(const std::deque<Spool::Entry>& waiting) const;

    // The last one could not be sent; asked_s: see Backoff.
    void busy(uint64_t now_ns, uint64_t asked_s);
    // It alone may be to blame. True: the receiver has said so of it for doubt_ns, in which it has
    // taken others.
    bool doubt(uint64_t number, uint64_t now_ns, uint64_t asked_s);
    bool in_doubt(uint64_t number) const { return doubts_.contains(number); }
    void taken() {
        taken_++;
        answered();
    }
    // Whatever it says, there is no need to wait.
    void answered() {
        failed_.reset();
        several_fail_ = false;
        backoff_.reset();
    }
    // It waits no longer.
    void forget(uint64_t number) { doubts_.erase(number); }
    // More than one interval has come to be in doubt, or still is, since one was taken: then it is
    // hardly their fault.
    bool several_fail() const { return several_fail_; }

  private:
    struct Doubt {
        uint64_t since_ns;
        uint64_t taken; // of others, then
        Backoff backoff;
        uint64_t next_ns = 0; // not before
    };

    uint32_t seed_;
    Backoff backoff_;
    uint64_t next_ns_ = 0; // not before, any
    uint64_t taken_ = 0;
    std::optional<uint64_t> failed_; // the last one, since one was taken
    bool several_fail_ = false;
    std::map<uint64_t, Doubt> doubts_; // by number
};

} // namespace auger
