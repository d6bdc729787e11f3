// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of all hosts at once: each host's stream is a recording of its own, on all or on none.
// Hosts that come later are given what is wanted by then (RecordingWish). Changes with what a
// console records of its hosts.
#pragma once

#include "loader/base/result.h"
#include "loader/remote/hosts.h"
#include "loader/reports/interval_recordings.h"
#include "loader/settings/interval_recording.h"

#include <chrono>
#include <string>

namespace auger::remote {

// Begins recordings by this path, each with its host's name in it; an empty path ends them.
Result<void> record_hosts(Hosts& hosts, const std::string& path);
// Begins recordings of intervals, each host's in a folder by its name; an empty folder ends them.
// Where one fails, those that went on do.
Result<void> record_intervals_of_hosts(Hosts& hosts, const IntervalRecording& wanted);
IntervalRecordings intervals_of_hosts(const Hosts& hosts); // their sum
// As Backend has them.
void keep_last_of_hosts(Hosts& hosts, std::chrono::nanoseconds span);
Result<void> write_last_of_hosts(const Hosts& hosts, const std::string& path);

} // namespace auger::remote
