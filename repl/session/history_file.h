// SPDX-License-Identifier: GPL-3.0-or-later
// The lines typed at the prompt, kept in the user's state folder: $XDG_STATE_HOME/auger/history.
// Under sudo it is the invoking user's file, opened with that user's rights.
#pragma once

#include "loader/base/result.h"
#include "loader/process/proc_info.h"

#include <optional>
#include <string>
#include <vector>

namespace auger {

class HistoryFile {
  public:
    static constexpr size_t max_lines = 2000;

    // `user` empty: whoever runs auger.
    HistoryFile(std::string path, std::optional<InvokingUser> user)
        : path_(std::move(path)), user_(std::move(user)) {}

    // From the environment and the user data base. Fails when there is no home folder.
    static Result<HistoryFile> of_user();

    const std::string& path() const { return path_; }
    // No file yet: no lines.
    Result<std::vector<std::string>> load() const;
    // Adds lines behind those that are there, by this or another session, and drops the oldest
    // beyond max_lines. The file has mode 0600.
    Result<void> append(const std::vector<std::string>& lines) const;

  private:
    std::string path_;
    std::optional<InvokingUser> user_;
};

} // namespace auger
