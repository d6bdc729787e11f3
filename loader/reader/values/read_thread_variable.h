// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/values/thread_variable.h"

#include <optional>
#include <string_view>

namespace auger {

// Nothing: the file exports none of that name.
std::optional<ThreadVariable> read_thread_variable(const ElfFile& file, std::string_view name);
// Likewise of one that the file need not export, as long as it is not stripped.
std::optional<ThreadVariable> read_hidden_thread_variable(const ElfFile& file,
                                                          std::string_view name);

} // namespace auger
