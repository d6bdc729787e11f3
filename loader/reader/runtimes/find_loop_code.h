// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/reader/tables/function_bounds.h"
#include "loader/runtimes/loop_code.h"

#include <cstdint>
#include <string_view>

namespace auger {

// The function, or part of one, that holds the address; null: none.
const FunctionBounds::Bounds* bounds_around(const FunctionBounds& functions, uint64_t address);

// The function that begins at an address as linked, or has this name there.
LoopCode find_loop_code(const ElfFile& file, const FunctionBounds& functions, uint64_t address,
                        std::string_view name);

} // namespace auger
