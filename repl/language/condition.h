// SPDX-License-Identifier: GPL-3.0-or-later
// The small expressions of `wait until` and `assert`: QUANTITY COMPARISON VALUE, where the value
// must have the quantity's unit.
//
//     calls handle >= 1000     p99 handle < 5ms       share slow parse > 50%
//     lost == 0                samples slow >= 100    exited
#pragma once

#include "repl/language/probe_arguments.h"
#include "views/model/call_class.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct Quantity {
    enum class Kind {
        calls,      // PROBE: calls that returned (what `hist` counts)
        entries,    // PROBE
        unwound,    // PROBE: ended by an exception, longjmp or thread exit
        open,       // PROBE: now
        dropped,    // PROBE: entries that could not be followed
        filtered,   // PROBE: entries that `only PROBE if ...` does not count
        taken,      // PROBE: returned calls that took the split's branch, as counted
        not_taken,  // PROBE: ... that did not
        slow_calls, // PROBE: calls traced by `slow`
        min,        // PROBE, duration
        max,
        mean,
        percentile, // PROBE, duration
        samples,    // [CLASS]
        share,      // [CLASS] FUNCTION: part of the weight with the function on the stack
        difference, // FUNCTION: slow minus fast, per call, duration
        gated,      // samples and slow calls that `only` or a raised rate kept back
        lost,       // [CAUSE]: events of every cause together, or of one
        rate,       // samples per second of on-CPU time
        exited,     // every process of the target has ended; stands alone
    };
    enum class Unit { count, duration, percent, none };

    Kind kind = Kind::calls;
    double percentile = 0;
    std::optional<ProbeRef> probe;
    ClassFilter filter;
    std::string text; // function, or cause
    Span at;          // of `text`

    Unit unit() const;
    // Whether it is about a probe.
    bool of_probe() const { return kind <= Kind::percentile; }
};

struct Condition {
    enum class Comparison { less, less_equal, greater, greater_equal, equal, unequal };

    Quantity quantity;
    Comparison comparison = Comparison::equal;
    double value = 0;    // calls, ns, percent or Hz
    Span at;             // the whole expression
    std::string spelled; // as written

    bool holds(double actual) const;
};

// Reads one condition and leaves what follows it (`for 30s`).
Parsed<Condition> parse_condition(Arguments& arguments);

inline constexpr std::string_view quantity_words =
    "calls entries unwound open dropped filtered taken not-taken slow min max mean p50 p90 p95 p99 "
    "p99.9 samples share diff gated lost rate exited";
inline constexpr std::string_view comparison_words = "< <= > >= == !=";

// The names of quantities, for completion.
const std::vector<std::string>& quantity_names();

} // namespace auger
