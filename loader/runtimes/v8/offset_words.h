// SPDX-License-Identifier: GPL-3.0-or-later
// Where handlers have the offset of their bytecode, as walks look it up.
#pragma once

#include "loader/runtimes/v8/v8_file.h"

#include <cstdint>
#include <vector>

namespace auger {

// As at wire_unwind_table::handlers_cell, of the code at [begin, end) as linked, of whose addresses
// the table counts from `begin` on. Empty: no handler is there.
std::vector<uint32_t> v8_offset_words(const V8File& file, uint64_t begin, uint64_t end);

} // namespace auger
