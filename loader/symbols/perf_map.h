// SPDX-License-Identifier: GPL-3.0-or-later
// PerfMap: names of generated code, from the file /tmp/perf-PID.map that a JIT writes: lines
// "START SIZE name" in hexadecimal. The target owns the file, so it is opened with suspicion:
// beneath the target's root, no symbolic link, a regular file only, of the target's user or root,
// bounded.
#pragma once

#include "loader/base/fd.h"
#include "loader/symbols/appended_file.h"
#include "loader/symbols/code_ranges.h"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace auger {

class PerfMap : public AppendedReader {
  public:
    // Adds whole lines; those that do not parse, or for which there is no more room, are skipped
    // and counted.
    void add(std::string_view text);
    std::optional<std::string_view> find(uint64_t address) const { return ranges_.find(address); }
    size_t size() const { return ranges_.size(); }
    size_t memory() const { return ranges_.memory(); } // bytes
    uint64_t skipped() const { return skipped_; }

    void begin_anew() override { *this = {}; }
    uint64_t take(std::string_view bytes, bool full) override;

  private:
    CodeRanges ranges_;
    uint64_t skipped_ = 0;
};

class PerfMapFile {
  public:
    static constexpr uint64_t size_limit = 256 << 20; // bytes of the file that are read

    // `root` is a folder's descriptor, kept open by the caller. Nothing is opened yet.
    PerfMapFile(int root, pid_t namespace_pid, uid_t uid, const std::string& folder = "/tmp");

    // Reads what has been written since the last time. False when there is nothing new. Fails when
    // the file is absent or not to be trusted; it may come later.
    Result<bool> refresh();
    const PerfMap& map() const { return map_; }
    void let_go() { map_ = {}; } // for good: what was read is not read again

  private:
    int root_;
    AppendedFile file_;
    PerfMap map_;
};

} // namespace auger
