// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/reader/elf/elf_file.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace auger {

// Where a variable (or function) of the file lies, as linked. Nothing: no symbol has that name, or
// several that lie elsewhere do.
std::optional<uint64_t> symbol_address(const ElfFile& file, std::string_view name);

} // namespace auger
