// SPDX-License-Identifier: GPL-3.0-or-later
// What goroutines wait for: the runtime has a number for each reason, which differs between its
// versions, and a table of their names for its tracebacks, which every program holds.
#pragma once

#include "bpf/go_runtime.h"
#include "loader/reader/elf/elf_file.h"

#include <array>
#include <cstdint>
#include <optional>

namespace auger {

// wire_go_reason by the runtime's number. Nothing when the file has no such table.
using GoReasons = std::array<uint8_t, sizeof(wire_go_runtime::reason)>;
std::optional<GoReasons> read_go_reasons(const ElfFile& file);

} // namespace auger
