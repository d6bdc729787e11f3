// SPDX-License-Identifier: GPL-3.0-or-later
// ReplaySurvey: the first of a replay's two passes, which learns what recordings have: of those
// with an index it reads the definitions only. Changes with what has to be known from the start.
#pragma once

#include "loader/recording/merged_recordings.h"
#include "loader/recording/offline_names.h"
#include "loader/recording/recording_summary.h"
#include "loader/recording/replay_backend.h"

#include <memory>
#include <string>

namespace auger {

struct ReplaySurvey {
    MergedRecordings recordings; // at their beginning
    RecordingSummary summary;
    StreamSpan span{};                     // of all that is wanted
    std::string damage;                    // as far as it was seen
    std::unique_ptr<OfflineNames> names{}; // null: as recorded
};

// Fails when there is nothing to be read.
Result<ReplaySurvey> survey_recordings(std::span<const std::string> paths,
                                       const ReplayOptions& options);

} // namespace auger
