// SPDX-License-Identifier: GPL-3.0-or-later
// PerfMap: names of generated code, from the file /tmp/perf-PID.map that a JIT writes: lines
// "START SIZE name" in hexadecimal.
#pragma once

#include "loader/reader/names/appended_file.h"
#include "loader/reader/names/code_ranges.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace auger {

class PerfMap : public AppendedReader {
  public:
    static constexpr uint64_t size_limit = 256 << 20; // bytes of the file that are read

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

} // namespace auger
