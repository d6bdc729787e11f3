// SPDX-License-Identifier: GPL-3.0-or-later
// For the tests of recordings: the index of one that is whole.
#pragma once

#include "loader/recording/recording_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace auger {

inline RecordingIndex index_of(const std::string& path) {
    auto reader = RecordingReader::open(path);
    EXPECT_TRUE(reader) << reader.error().message();
    EXPECT_EQ(reader->load_index().value_or(""), "");
    return reader->index() ? *reader->index() : RecordingIndex();
}

} // namespace auger
