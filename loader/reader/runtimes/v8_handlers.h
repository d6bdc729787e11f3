// SPDX-License-Identifier: GPL-3.0-or-later
// Where V8's interpreter has the offset of the bytecode that it executes: what the code of its
// handlers tells.
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/runtimes/v8/v8_file.h"

#include <vector>

namespace auger {

// As V8File::offset_places. Empty when the file has no symbols, or does not say in which register
// handlers are given the offset.
std::vector<V8OffsetPlace> v8_offset_places(const ElfFile& file, const V8File& v8);

} // namespace auger
