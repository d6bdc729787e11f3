// SPDX-License-Identifier: GPL-3.0-or-later
// From `tracepoint:CATEGORY:NAME` to the kernel's tracepoints, and which belong together.
#pragma once

#include "loader/base/result.h"
#include "loader/probes/probe_pattern.h"
#include "loader/tracepoints/tracefs.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct TracepointName {
    std::string category, name;

    std::string text() const { return "tracepoint:" + category + ":" + name; }
    friend bool operator==(const TracepointName&, const TracepointName&) = default;
};

// By category and name; one at least. An error says what may have been meant.
Result<std::vector<TracepointName>> find_tracepoints(const Tracefs& tracefs,
                                                     const ProbePattern& pattern, size_t limit);

// "tracepoint:CATEGORY:" and "tracepoint:CATEGORY:NAME" for what begins so, "syscall:NAME"
// likewise.
std::vector<std::string> complete_tracepoints(const Tracefs& tracefs, std::string_view text,
                                              size_t limit);

// Where what begins at this one ends, by their names: sys_enter_read and sys_exit_read, ..._begin
// and ..._end. Nothing: no other is called so.
std::optional<TracepointName> end_of_pair(const Tracefs& tracefs, const TracepointName& begin);

// Whether it is hit by a system call, on the thread that makes it, and at no other time.
bool is_of_system_calls(std::string_view category);

} // namespace auger
