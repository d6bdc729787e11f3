// SPDX-License-Identifier: GPL-3.0-or-later
// OwnFunctions: what a file itself says of where its functions are: its symbols, its call frame
// information, where the program begins. Names may come from a separate debug file that a target's
// root brought along, which bears the build id that anybody can write into one; a breakpoint goes
// only where the file that is run confirms it.
#pragma once

#include "loader/base/result.h"
#include "loader/elf/elf_file.h"

#include <cstdint>
#include <vector>

namespace auger {

class OwnFunctions {
  public:
    explicit OwnFunctions(const ElfFile& file);

    // Fails unless a function, or a part of one, begins at the address as linked and has `size`
    // bytes (or no size is known of it).
    Result<void> confirm(uint64_t address, uint64_t size) const;

  private:
    struct Function {
        uint64_t begin;
        uint64_t end; // `begin`: not known
    };
    std::vector<Function> functions_; // by begin, then end
};

} // namespace auger
