// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a code object: its location table, co_linetable, in the form that CPython has since
// 3.11 (InternalDocs/code_objects.md there).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace auger {

// The line of the instruction at an offset in bytes, as tracebacks show it; 0: it has none. A frame
// that has not begun is before its first instruction, at -2, and on the first line.
uint32_t python_line(std::span<const std::byte> table, uint32_t first_line, uint32_t offset);

} // namespace auger
