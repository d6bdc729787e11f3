// SPDX-License-Identifier: GPL-3.0-or-later
// OwnFunctions: what a file itself says of where its functions are: its symbols, its call frame
// information, where the program begins. Names may come from a separate debug file that a target's
// root brought along, which bears the build id that anybody can write into one; a breakpoint goes
// only where the file that is run confirms it.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/tables/function_bounds.h"

#include <cstdint>
#include <vector>

namespace auger {

class OwnFunctions {
  public:
    explicit OwnFunctions(const ElfFile& file);

    // The bytes of the function, or of the part of one, that begins at the address as linked; 0:
    // the file does not say. Fails when none begins there.
    Result<uint64_t> size_at(uint64_t address) const;

    const std::vector<FunctionBounds::Bounds>& all() const { return functions_; }

  private:
    std::vector<FunctionBounds::Bounds> functions_; // by begin, then end
};

} // namespace auger
