// SPDX-License-Identifier: GPL-3.0-or-later
// For the tests of many recordings: folders of them, and what is read of these.
#pragma once

#include "loader/recording/merged_recordings.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/loader_recording_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace auger {

namespace fs = std::filesystem;

inline constexpr uint64_t second = RecordedSession::second;
inline constexpr uint64_t boot_ns = 1'700'000'000 * second;
inline constexpr uint64_t wall_begin = boot_ns + RecordedSession::begin_ns;

inline RecordedTime wall(uint64_t ns) {
    return {RecordedTime::Kind::wall, ns};
}

class RecordingSelection : public testing::Test {
  protected:
    std::string folder(const std::string& name = "day") const { return temporary_.path(name); }
    std::vector<std::string> files(const std::string& name = "day") const {
        std::vector<std::string> paths;
        for (const auto& entry : fs::directory_iterator(folder(name)))
            if (!entry.is_symlink())
                paths.push_back(entry.path());
        std::ranges::sort(paths);
        return paths;
    }
    static uint64_t size_of(const std::vector<std::string>& paths) {
        uint64_t size = 0;
        for (const std::string& path : paths)
            size += fs::file_size(path);
        return size;
    }
    // Both passes, as a replay makes them.
    struct Reading {
        std::string refused;
        Transcript told;
        std::string damage;
        std::vector<std::string> notes;
        uint64_t bytes_to_open = 0, bytes = 0;
        StreamSpan surveyed, span;
    };
    static Reading read(const std::vector<std::string>& paths,
                        const RecordedSelection& selection = {}) {
        Reading reading;
        auto merged = MergedRecordings::open(paths, selection);
        if (!merged) {
            reading.refused = merged.error().message();
            return reading;
        }
        reading.bytes_to_open = merged->bytes_read();
        Transcript definitions;
        merged->rewind(MergedRecordings::Pass::definitions);
        merged->deliver(definitions);
        reading.surveyed = merged->span();
        merged->rewind(MergedRecordings::Pass::events);
        merged->deliver(reading.told);
        reading.damage = merged->damage_text();
        reading.notes = merged->notes();
        reading.bytes = merged->bytes_read();
        reading.span = merged->span();
        return reading;
    }
    static uint64_t time_of(const std::string& event) {
        return std::stoull(event.substr(event.find(' ') + 1));
    }
    static std::vector<std::string> comparable(const std::vector<std::string>& events,
                                               const TimeRange& range = {}) {
        std::vector<std::string> kept;
        for (const std::string& event : events)
            if (!event.starts_with("ledger") && !event.starts_with("stats") &&
                range.contains(time_of(event)))
                kept.push_back(event.substr(0, event.rfind(" after ")));
        return kept;
    }

    test::TemporaryFolder temporary_;
};

} // namespace auger
