// SPDX-License-Identifier: GPL-3.0-or-later
//
// The truth: every call of handle_request with its times and why it was slow, if it was.
//
// Each call is timed twice: `outside` by its caller, just around the call, and `inside`, from its
// first statement to its last. What a probe on its entry and exit measures lies between the two:
//     outside.start <= entry <= inside.start   and   inside.end <= exit <= outside.end
#pragma once

#include "common/clocks.h"
#include "common/truth.h"

#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

enum class Kind : uint8_t { fast, cpu, wait };
const char* kind_name(Kind kind);

// CLOCK_MONOTONIC in nanoseconds.
struct Interval {
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t duration() const { return end - start; }
};

// Notes when it is made and when it is destroyed. The first local variable of a function is the
// last one destroyed, so there it covers the whole body.
class Stopwatch {
  public:
    explicit Stopwatch(Interval& interval) : interval_(interval) { interval_.start = truth_now(); }
    ~Stopwatch() { interval_.end = truth_now(); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

  private:
    Interval& interval_;
};

// What the recv calls from one place asked for and got.
struct Received {
    uint32_t calls = 0;
    uint64_t longest_ns = 0;
    uint64_t requested = 0; // bytes
    int64_t returned = 0;
    uint64_t waits = 0; // how often the thread waited in them

    struct Start {
        uint64_t waits = waits_now();
        uint64_t ns = truth_now();
    };
    // One call, from before it until now.
    void add(const Start& start, size_t wanted, ssize_t got);
};

struct Call {
    Interval outside;
    Interval inside;
    pid_t tid = 0;
    Kind kind = Kind::fast;

    uint32_t account = 0;
    uint32_t rows = 0;
    std::string_view asked; // the request's kind
    bool metered = false;   // it went the way of metered accounts
    Received found, amount; // the two answers to fetch_quota
    bool amount_late = false;
    bool audited = false;
    uint64_t lock_wait_ns = 0; // for the audit log; 0: the lock was free
};

class CallLog {
  public:
    void add(const Call& call);

    // The fields of the account, for truth_program::report.
    void report(FILE* out) const;

    // One line for each call: start end tid kind inside_start inside_end, in order of start.
    // False when the file cannot be written.
    bool write(const std::string& path) const;

    // One object of JSON for each call, with all that is known of it.
    bool write_details(const std::string& path) const;

  private:
    std::vector<Call> snapshot() const;
    std::vector<Call> in_order_of_start() const;

    mutable std::mutex lock_; // taken outside of both intervals
    std::vector<Call> calls_;
};
