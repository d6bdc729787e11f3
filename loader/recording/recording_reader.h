// SPDX-License-Identifier: GPL-3.0-or-later
// RecordingReader: a recording back into the event stream. Nothing in the file is believed: every
// length, count and id is checked, and reading ends at the first thing that is wrong.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/recording/record_decoder.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <optional>
#include <string>

namespace auger {

class RecordingReader {
  public:
    // Fails for what is not a recording: absent, not a regular file, empty, another format or
    // version.
    static Result<RecordingReader> open(const std::string& path);

    // Why reading ended before the recording did.
    struct Damage {
        uint64_t offset = 0; // in the file, of the block that could not be read to its end
        std::string problem; // "the file ends inside a block" ...
    };

    enum class State { more, end };
    // Delivers the records up to the first one later than `until_ns`, or to the end or damage.
    State deliver(EventSink& sink, uint64_t until_ns = UINT64_MAX);
    // Of the next record, where there are more.
    uint64_t next_ns() const { return decoder_.next_ns(); }

    // Back to the beginning of the same open file, whatever its name stands for now.
    Result<void> rewind();

    // What was delivered so far.
    const StreamSpan& span() const { return decoder_.span(); }
    const std::optional<Damage>& damage() const { return damage_; }
    // "recording x.rec: a block's checksum does not match (at byte 4711); 12.300 s with 4567 events
    // were read"; empty when there was no damage.
    std::string damage_text() const;

  private:
    RecordingReader(UniqueFd file, std::string path);

    bool next_block();
    bool damaged(std::string problem);
    Result<size_t> read(char* to, size_t size);

    UniqueFd file_;
    std::string path_;
    std::string stored_;
    std::string block_;
    uint32_t version_ = 0; // of the format
    RecordDecoder decoder_;
    uint64_t offset_ = 0;       // of the next block
    uint64_t block_offset_ = 0; // of the present one
    bool ended_ = false;
    std::optional<Damage> damage_;
};

} // namespace auger
