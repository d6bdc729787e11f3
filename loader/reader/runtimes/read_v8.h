// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/runtimes/v8/v8_file.h"

#include <optional>

namespace auger {

// Nothing when the file does not hold V8.
std::optional<V8File> read_v8(const ElfFile& file);

} // namespace auger
