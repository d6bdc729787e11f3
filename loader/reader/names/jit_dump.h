// SPDX-License-Identifier: GPL-3.0-or-later
// JitDump: names of generated code, from the file jit-PID.dump that a JIT writes for perf (node
// --perf-prof, a JVM with perf's agent). By convention the JIT maps a page of the file executable,
// which is how it is found. Read are the loading of code and its moving; its lines, its unwinding
// information and the code itself are left out.
#pragma once

#include "loader/reader/names/appended_file.h"
#include "loader/reader/names/code_ranges.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace auger {

class JitDump : public AppendedReader {
  public:
    static constexpr uint64_t size_limit = uint64_t{4} << 30; // bytes of the file that are read

    std::optional<std::string_view> find(uint64_t address) const { return ranges_.find(address); }
    size_t size() const { return ranges_.size(); }
    size_t memory() const { return ranges_.memory(); } // bytes
    uint64_t skipped() const { return skipped_; }      // records that do not hold together
    bool damaged() const { return damaged_; }          // no jitdump file, or not from some place on

    void begin_anew() override { *this = {}; }
    uint64_t take(std::string_view bytes, bool full) override;

  private:
    // How long the header or record is that the bytes begin with; 0 when more is needed.
    uint64_t take_header(std::string_view bytes);
    uint64_t take_record(std::string_view bytes);

    CodeRanges ranges_;
    uint64_t skipped_ = 0;
    bool begun_ = false;
    bool damaged_ = false;
};

} // namespace auger
