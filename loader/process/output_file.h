// SPDX-License-Identifier: GPL-3.0-or-later
// OutputFile: a file that auger leaves behind. It is written beside its name and takes the name
// when it is whole, so whoever looks sees the former one or all of the new one, whatever happens
// meanwhile. auger is root, and the folder may be anybody's: no link is followed, and nothing is
// replaced that belongs to somebody else. Mode 0600, of the user who called sudo.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <string>
#include <string_view>

namespace auger {

class OutputFile {
  public:
    // Fails when the folder is not to be written to, or when something stands there that is not a
    // regular file of ours.
    static Result<OutputFile> create(const std::string& path);
    OutputFile(OutputFile&&) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile(); // without commit(), nothing is left

    // Buffered. The first error is kept for commit().
    void write(std::string_view bytes);
    // Gives the file its name.
    Result<void> commit();

  private:
    OutputFile() = default;
    void flush();

    std::string path_;           // for messages
    std::string name_;           // in the folder
    std::string temporary_name_; // empty: there is nothing to remove
    UniqueFd folder_, file_;
    std::string buffer_;
    int error_ = 0;
};

} // namespace auger
