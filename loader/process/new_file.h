// SPDX-License-Identifier: GPL-3.0-or-later
// NewFile: a file that a user named, made by auger, which may be root in a folder that may be
// anybody's. Under sudo it is made with the invoking user's own rights, so it is theirs (mode 0600)
// and lies only where they may write; no link is followed, and nothing is replaced that belongs to
// somebody else. Until it takes its name it has none, where the file system can do that: whatever
// ends auger then, kill -9 included, nothing is left behind.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <string>
#include <string_view>

namespace auger {

class NewFile {
  public:
    // Fails when the folder is not to be written to, or when something stands there that
    // take_name() would not replace: what is not a regular file of ours or, where `magic` is given,
    // is neither empty nor begins with that.
    static Result<NewFile> create(const std::string& path, std::string_view magic = {});
    NewFile(NewFile&&) noexcept;
    NewFile& operator=(NewFile&&) = delete;
    ~NewFile(); // without take_name(), nothing is left

    int get() const { return file_.get(); }
    // In one step: whoever looks sees the former file or this one, and readers of the former one
    // keep it.
    Result<void> take_name();
    // Another descriptor of it, to be written to for longer than this lives.
    UniqueFd descriptor() const;

  private:
    NewFile() = default;

    std::string path_;           // for messages
    std::string name_;           // in the folder
    std::string magic_;          // of what may be replaced; empty: whatever it holds
    std::string temporary_name_; // that it has meanwhile, where it must have one
    UniqueFd folder_, file_;
};

} // namespace auger
