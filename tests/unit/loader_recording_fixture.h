// SPDX-License-Identifier: GPL-3.0-or-later
// LoaderRecording: recordings of random events in a folder of their own, and how they are read.
#pragma once

#include "loader/recording/format.h"
#include "loader/recording/recording_reader.h"
#include "loader/recording/recording_writer.h"
#include "tests/unit/loader_recording_stream.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace auger {

// So that the small recordings, which are cut and changed at every byte, have several blocks.
inline constexpr uint64_t gap_of_small = 300'000'000;

class LoaderRecording : public testing::Test {
  protected:
    LoaderRecording() {
        std::string name = testing::TempDir() + "auger-recording-XXXXXX";
        folder_ = mkdtemp(name.data());
    }
    ~LoaderRecording() override { std::filesystem::remove_all(folder_); }

    std::string path(const std::string& name = "a.rec") const { return folder_ + "/" + name; }

    std::string content(const std::string& path) const {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void put(const std::string& path, const std::string& bytes) const {
        std::ofstream(path, std::ios::binary) << bytes;
    }
    // A recording of `events` random events; the same events in `expected`.
    void write(const std::string& path, size_t events, Transcript& expected,
               uint64_t gap_ns = 20'000'000) const {
        auto writer = RecordingWriter::create(path);
        ASSERT_TRUE(writer) << writer.error().message();
        deliver(**writer, events, gap_ns);
        ASSERT_TRUE((*writer)->finish());
        deliver(expected, events, gap_ns);
    }
    static void deliver(EventSink& sink, size_t events, uint64_t gap_ns) {
        StreamGenerator generator(42, gap_ns);
        generator.definitions(sink);
        generator.events(sink, events);
    }

    struct Reading {
        Transcript transcript;
        std::string refused; // by open()
        std::string damage;
        StreamSpan span;
    };
    Reading read(const std::string& path) const {
        Reading reading;
        auto reader = RecordingReader::open(path);
        if (!reader) {
            reading.refused = reader.error().message();
            return reading;
        }
        EXPECT_EQ(reader->deliver(reading.transcript), RecordingReader::State::end);
        reading.damage = reader->damage_text();
        reading.span = reader->span();
        return reading;
    }
    // A file with one good header and these raw records, stored as they are, with a right checksum.
    std::string made_up(const std::string& records) const {
        Transcript nothing;
        write(path("empty.rec"), 0, nothing);
        return content(path("empty.rec")).substr(0, recording::header_size) + block(records);
    }
    static std::string block(const std::string& records, uint32_t raw_size = 0) {
        std::string body;
        ByteWriter out(body);
        out.fixed32(static_cast<uint32_t>(records.size()));
        out.fixed32(raw_size ? raw_size : static_cast<uint32_t>(records.size()));
        body += records;
        std::string whole;
        ByteWriter(whole).fixed32(static_cast<uint32_t>(
            crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()))));
        return whole + body;
    }

    std::string folder_;
};

// Whether the first lines of one are those of the other.
inline bool is_prefix(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

// The same of definitions and events, which a recording keeps apart.
inline bool is_prefix(const Transcript& part, const Transcript& whole) {
    return is_prefix(part.definitions, whole.definitions) && is_prefix(part.events, whole.events);
}

} // namespace auger
