// SPDX-License-Identifier: GPL-3.0-or-later
// Exports into files: one that is open, or one that is made (OutputFile).
#pragma once

#include "loader/base/result.h"
#include "loader/process/output_file.h"
#include "views/exports/byte_sink.h"

#include <string>

namespace auger {

class FileSink final : public ByteSink {
  public:
    explicit FileSink(int fd) : fd_(fd) {} // stays the caller's

    void write(std::string_view bytes) override {
        buffer_.append(bytes);
        if (buffer_.size() >= buffer_bytes)
            flush();
    }
    // Writes what is held back; fails when any write has. `subject` is for the message.
    Result<void> finish(const std::string& subject);

  private:
    static constexpr size_t buffer_bytes = 256 << 10;
    void flush();

    int fd_;
    std::string buffer_;
    int error_ = 0; // errno of the first write that failed
};

class OutputFileSink final : public ByteSink {
  public:
    explicit OutputFileSink(OutputFile& file) : file_(file) {}
    void write(std::string_view bytes) override { file_.write(bytes); }

  private:
    OutputFile& file_;
};

} // namespace auger
