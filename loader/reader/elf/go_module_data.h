// SPDX-License-Identifier: GPL-3.0-or-later
// What a Go program knows of its own tables (runtime.firstmoduledata), found without symbols.
#pragma once

#include "loader/reader/elf/elf_file.h"

#include <cstdint>
#include <vector>

namespace auger {

// Its words as the program finds them when it begins, addresses as linked: where tables begin and
// end, in an order that differs between Go's versions. Empty when there is none.
std::vector<uint64_t> read_go_module_data(const ElfFile& file);

} // namespace auger
