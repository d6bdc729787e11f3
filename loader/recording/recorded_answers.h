// SPDX-License-Identifier: GPL-3.0-or-later
// What a console asks of a recording, beside what the recording has: which slow calls, conditions,
// marks and values, which rates and names. Ids are recorded ones.
#pragma once

#include "loader/base/result.h"
#include "loader/recording/recording_summary.h"
#include "loader/settings/sampling_settings.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// Whether slow calls beyond `asked` are among those that were recorded.
bool recorded_slow(const RecordedProbe& probe, const Threshold& asked);
Result<void> check_slow(const RecordedProbe& probe, const Threshold& slow);
Result<void> check_conditions(const RecordedProbe& probe, const CallConditions& conditions);

// Fills in where the split's branch and value are in the recording, and from when to when; fails
// for what was not watched of the probe's calls.
Result<void> find_recorded_split(const RecordingSummary& summary, ProbeId probe, SplitInfo& split);
// Likewise the marks of `only`'s lines. What the kernel kept back is in no recording, so its gate
// (with recorded ids: `gate`) must be one of the recording's.
Result<void> find_recorded_only(const RecordingSummary& summary, const Gate& gate, OnlyInfo& only);
// Whether there are samples at the rate that is asked for.
Result<void> check_sampling(const RecordingSummary& summary, const SamplingSettings& settings);

// Which probes there are, for a hint.
std::string recorded_probes(const RecordingSummary& summary);
// Those functions and texts of probes that begin so.
std::vector<std::string> recorded_functions(const RecordingSummary& summary,
                                            std::string_view prefix, size_t limit);

} // namespace auger
