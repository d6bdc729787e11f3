// SPDX-License-Identifier: GPL-3.0-or-later
// The functions that probes time, as rows of a table.
#pragma once

#include "views/model/timed_function.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace auger {

// What the table may be sorted by: the largest first, names from A on.
enum class FunctionColumn : uint8_t { calls, total, self, mean, p50, p95, p99, max, function };
std::span<const std::string_view> function_columns(); // their names
std::string_view to_string(FunctionColumn);

// Durations are those of the calls that returned; of a window its first and last durations are
// known as far as buckets tell (CallStatistics).
struct FunctionRow {
    SpecId spec;          // the latest of its place
    CallStatistics calls; // but for the histogram, of which these are left
    double mean_ns = 0, p50_ns = 0, p95_ns = 0, p99_ns = 0, p999_ns = 0;
};

// Of `probe`, or of all that are not deleted.
std::vector<FunctionRow> function_table(const Model&, const Window&, std::optional<ProbeId> probe,
                                        FunctionColumn sorted_by);

} // namespace auger
