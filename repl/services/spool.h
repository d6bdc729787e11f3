// SPDX-License-Identifier: GPL-3.0-or-later
// Spool: a folder of intervals that wait to be sent, a file each, whose name tells all that is to
// be known of it. It is one process's at a time, outlives it, and is bounded in size and age.
// Everything here is done with the rights of whoever called sudo (see NewFile).
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

class Spool {
  public:
    struct Entry {
        uint64_t number = 0;     // in the order of their writing
        uint64_t written_ms = 0; // since 1970, as the other times
        uint64_t begin_ms = 0, length_ms = 0;
        uint64_t samples = 0;
        std::string service{}; // letters, digits, '.', '-', '_'
        uint64_t bytes = 0;    // of the file
    };
    struct Limits {
        uint64_t bytes = 0, age_ms = 0;
    };

    // Makes the folder, mode 0700, where it is missing. Fails when another process has it, or when
    // it holds what was made for another protocol. `protocol`: letters and '-'.
    static Result<Spool> open(const std::string& folder, std::string_view protocol);

    const std::string& folder() const { return folder_; }
    // The oldest first.
    const std::deque<Entry>& entries() const { return entries_; }
    uint64_t bytes() const { return bytes_; }

    // For one that is to be written: its number, and where its file belongs.
    uint64_t next_number() const { return next_; }
    std::string name_of(const Entry& entry) const;
    std::string path_of(const Entry& entry) const { return folder_ + "/" + name_of(entry); }
    // It has been written there. Nothing: there is no such file.
    std::optional<Entry> add(std::string_view name);

    Result<UniqueFd> read(const Entry& entry) const;
    // It leaves the spool; fails when its file stays all the same.
    Result<void> remove(uint64_t number);
    // The oldest that are beyond the limits leave it, but for the one of number `kept`.
    std::vector<Entry> trim(const Limits& limits, uint64_t now_ms, std::optional<uint64_t> kept);

  private:
    Spool(std::string folder, std::string_view protocol, UniqueFd lock)
        : folder_(std::move(folder)), protocol_(protocol), lock_(std::move(lock)) {}
    Result<void> find();

    std::string folder_, protocol_;
    UniqueFd lock_; // the folder itself
    std::deque<Entry> entries_;
    uint64_t bytes_ = 0, next_ = 1;
};

} // namespace auger
