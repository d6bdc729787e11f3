// SPDX-License-Identifier: GPL-3.0-or-later
// What a goroutine in a timed call waits for, for people: "parked: chan receive, for 12.5 ms".
#pragma once

#include "bpf/wire.h"
#include "loader/unwind/parked_goroutine.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

// Where that is watched; see LiveNames::present_stack().
std::optional<uint64_t> wait_of_goroutine(const wire_open_call& record);

// With why it has no stack, where it has none.
std::string goroutine_text(const wire_open_call& record, ParkedGoroutine::State state);
// Of one whose stack was not looked for.
std::string goroutine_text(const wire_open_call& record, std::string_view why_no_stack);

} // namespace auger
