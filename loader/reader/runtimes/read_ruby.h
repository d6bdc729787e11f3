// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/runtimes/ruby/ruby_file.h"

#include <optional>

namespace auger {

// Nothing when the file does not hold Ruby.
std::optional<RubyFile> read_ruby(const ElfFile& file);

} // namespace auger
