// SPDX-License-Identifier: GPL-3.0-or-later
// RecordingHead: what a recording is of: learned from its index, or where there is none from its
// beginning, or by reading it. Changes when more has to be known before a recording is chosen.
#pragma once

#include "loader/base/result.h"
#include "loader/recording/recording_index.h"

#include <memory>
#include <string>

namespace auger {

struct RecordingHead {
    std::string path;
    MachineInfo machine;
    SeriesInfo series;
    // Of events, in its own time; `last_ns` is UINT64_MAX where only the beginning was read.
    bool timed = false;
    uint64_t first_ns = 0, last_ns = 0;
    std::vector<std::string> probes; // that something happened to; where all was read
    // One that was made by reading all of the file, which has none of its own.
    std::shared_ptr<const RecordingIndex> made{};
    std::string problem{};   // with its index; empty: it is good
    bool whole = false;      // `last_ns` and `probes` are known
    uint64_t bytes_read = 0; // for this

    uint64_t boot_ns() const; // of the machine; 0: unknown
};

enum class HeadDetail : uint8_t { beginning, whole };
// Fails when it is no recording. Damage is told when it is read.
Result<RecordingHead> read_head(const std::string& path, HeadDetail detail);

} // namespace auger
