// SPDX-License-Identifier: GPL-3.0-or-later
// Which recordings are meant by paths of files and folders, and a range of time, and a probe: the
// ones to be read, by session, with what else there is to say. Changes with how recordings are
// chosen.
#pragma once

#include "loader/base/result.h"
#include "loader/recording/recorded_time.h"
#include "loader/recording/recording_head.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace auger {

// What of the recordings is wanted.
struct RecordedSelection {
    std::optional<RecordedTime> from{}, to{}; // nothing: from the beginning, to the end
    std::string probe{}; // text: files in which nothing happened to it are left out; empty: none

    bool all() const { return !from && !to && probe.empty(); }
};

// Files of one session, in the order of time.
struct FoundSession {
    std::vector<RecordingHead> files;
    TimeRange range; // what is wanted of them, in their own time
};

struct FoundRecordings {
    std::vector<FoundSession> sessions; // the one that was recorded first is the first
    bool is_part = false;               // not all of it is wanted
    size_t files = 0;                   // that there are
    size_t left_out = 0;                // of these, since nothing in them is wanted
    uint64_t bytes_read = 0;            // of those that were left out
    std::vector<std::string> problems;  // what could not be opened or is not believed
    std::vector<std::string> notes;     // what else is to be known
};

// A folder is all recordings in it that are regular files named `*.auger`, and those in folders in
// it, as each host has one (`record DIR every` of several); of these, one that is none is told. Fails when a file that was named is no recording, or there is nothing to be read.
Result<FoundRecordings> find_recordings(std::span<const std::string> paths,
                                        const RecordedSelection& selection);

} // namespace auger
