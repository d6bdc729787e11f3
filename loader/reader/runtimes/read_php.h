// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/runtimes/php/php_file.h"

#include <optional>

namespace auger {

// Nothing when the file does not hold PHP.
std::optional<PhpFile> read_php(const ElfFile& file);

} // namespace auger
