// SPDX-License-Identifier: GPL-3.0-or-later
// PerfMap: names of generated code, from the file /tmp/perf-PID.map that a JIT writes: lines
// "START SIZE name" in hexadecimal. The target owns the file, so it is opened with suspicion:
// beneath the target's root, no symbolic link, a regular file only, of the target's user or root,
// bounded.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

class PerfMap {
  public:
    static constexpr uint64_t size_limit = 256 << 20; // bytes of the file that are read
    static constexpr size_t most_ranges = 1 << 20;    // the largest programs have some 100,000

    // Adds whole lines; those that do not parse, or for which there is no more room, are skipped
    // and counted. Later entries take the place of earlier ones, as code is freed and its memory
    // used again.
    void add(std::string_view text);
    std::optional<std::string_view> find(uint64_t address) const;
    size_t size() const { return ranges_.size(); }
    uint64_t skipped() const { return skipped_; }

  private:
    struct Range {
        uint64_t end;
        std::shared_ptr<const std::string> name; // of several ranges when others lie within it
    };
    void add_range(uint64_t start, uint64_t end, std::string_view name);

    std::map<uint64_t, Range> ranges_; // by start, never overlapping
    uint64_t skipped_ = 0;
};

class PerfMapFile {
  public:
    // `root` is a folder's descriptor, kept open by the caller. Nothing is opened yet.
    PerfMapFile(int root, pid_t namespace_pid, uid_t uid, std::string folder = "/tmp");

    // Reads what has been written since the last time. False when there is nothing new. Fails when
    // the file is absent or not to be trusted; it may come later.
    Result<bool> refresh();
    const PerfMap& map() const { return map_; }

  private:
    int root_;
    uid_t uid_;
    std::string path_;
    PerfMap map_;
    uint64_t device_ = 0, inode_ = 0, read_ = 0; // of the file last read, and up to where
};

} // namespace auger
