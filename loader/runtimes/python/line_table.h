// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a code object: its co_lnotab up to 3.9, its co_linetable in 3.10 (both in
// Objects/lnotab_notes.txt there), its location table, which has that name, since 3.11
// (InternalDocs/code_objects.md).
#pragma once

#include "loader/runtimes/python/layout.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace auger {

// The line of the instruction at an offset in bytes, as tracebacks show it; 0: it has none. A frame
// that has not begun is before its first instruction, at -2, and on the first line.
uint32_t python_line(PythonLines form, std::span<const std::byte> table, uint32_t first_line,
                     uint32_t offset);

} // namespace auger
