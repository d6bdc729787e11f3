// SPDX-License-Identifier: GPL-3.0-or-later
// RecordingFile: a recording as a file: its header, its blocks and its index, whole or not at all.
// Nothing in it is believed: sizes are checked before memory is taken for them, and checksums
// before anything is handed out. A file that is being written may grow meanwhile. Changes with the
// frame that format.h describes.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/recording/recording_index.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

class RecordingFile {
  public:
    // Fails for what is not a recording: absent, not a regular file, empty, another format or
    // version.
    static Result<RecordingFile> open(const std::string& path);

    // Reads the block at `offset` into `content`. What is wrong with it, or nothing; `size` is what
    // it takes of the file.
    std::optional<std::string> read_block(uint64_t offset, std::string& content, uint64_t& size);

    // Where the index is looked for: a recording that was not ended has none.
    enum class IndexState { good, none, damaged };
    IndexState read_index(RecordingIndex& index);
    // The index that begins at `offset`, of a file that has been read up to there; what is wrong
    // with it, or nothing.
    std::optional<std::string> check_index(uint64_t offset);

    const std::string& path() const { return path_; }
    uint32_t version() const { return version_; }
    uint64_t bytes_read() const { return bytes_read_; }

  private:
    RecordingFile(UniqueFd file, std::string path)
        : file_(std::move(file)), path_(std::move(path)) {}
    // As many bytes as there are, up to `size`.
    Result<size_t> read(uint64_t offset, char* to, size_t size);
    Result<uint64_t> size() const;

    UniqueFd file_;
    std::string path_;
    std::string stored_;
    uint32_t version_ = 0;
    uint64_t bytes_read_ = 0;
};

} // namespace auger
