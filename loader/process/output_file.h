// SPDX-License-Identifier: GPL-3.0-or-later
// OutputFile: a file that auger writes as a whole. It takes its name when all of it is there, so
// whoever looks sees the former one or all of the new one, whatever happens meanwhile (see NewFile
// for whose it is, and what it may replace).
#pragma once

#include "loader/process/new_file.h"

#include <string>
#include <string_view>

namespace auger {

class OutputFile {
  public:
    static Result<OutputFile> create(const std::string& path);

    // Buffered. The first error is kept for commit().
    void write(std::string_view bytes);
    // Gives the file its name. Without it, nothing is left.
    Result<void> commit();

  private:
    OutputFile(NewFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
    void flush();

    NewFile file_;
    std::string path_; // for messages
    std::string buffer_;
    int error_ = 0;
};

} // namespace auger
