// SPDX-License-Identifier: GPL-3.0-or-later
//
// The truth: every call of handle_request with its times and why it was slow, if it was.
//
// Each call is timed twice: `outside` by its caller, just around the call, and `inside`, from its
// first statement to its last. What a probe on its entry and exit measures lies between the two:
//     outside.start <= entry <= inside.start   and   inside.end <= exit <= outside.end
#pragma once

#include "common/truth.h"

#include <mutex>
#include <string>
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

struct Call {
    Interval outside;
    Interval inside;
    pid_t tid = 0;
    Kind kind = Kind::fast;
};

class CallLog {
  public:
    void add(const Call& call);

    // The fields of the account, for truth_program::report.
    void report(FILE* out) const;

    // One line for each call: start end tid kind inside_start inside_end, in order of start.
    // False when the file cannot be written.
    bool write(const std::string& path) const;

  private:
    std::vector<Call> snapshot() const;

    mutable std::mutex lock_; // taken outside of both intervals
    std::vector<Call> calls_;
};
