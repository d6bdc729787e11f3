// SPDX-License-Identifier: GPL-3.0-or-later
// A moment of recordings as it is typed: 2026-11-21T23:20 (with Z or +02:00, else where TZ says),
// 23:20, -15m (before their end), +10m (after their beginning). Changes with how moments are typed.
#pragma once

#include "loader/recording/recorded_time.h"
#include "repl/language/complaint.h"

#include <string_view>

namespace auger {

// Places of complaints are in `text`.
Parsed<RecordedTime> parse_recorded_time(std::string_view text);

} // namespace auger
