// SPDX-License-Identifier: GPL-3.0-or-later
// FunctionBounds: where functions begin and end, as call frame information tells, which stripped
// files have too. So addresses in one function without a name can be known as such.
#pragma once

#include "loader/reader/elf/elf_file.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

class FunctionBounds {
  public:
    explicit FunctionBounds(const ElfFile& file);

    // Of the function, or part of one, around an address as linked.
    std::optional<uint64_t> begin_of(uint64_t address) const;
    size_t size() const { return bounds_.size(); }

    struct Bounds {
        uint64_t begin;
        uint64_t end;
    };
    const std::vector<Bounds>& all() const { return bounds_; } // by begin

  private:
    std::vector<Bounds> bounds_;
};

} // namespace auger
