// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/runtimes/go/go_file.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace auger {

// Nothing when the file is no Go program.
std::optional<GoFile> read_go(const ElfFile& file);

// The compiler's version by .go.buildinfo. Empty: the section has it elsewhere, as before Go 1.18.
// Nothing when the section is not understood.
std::optional<std::string> go_version(std::span<const std::byte> build_information);

} // namespace auger
