// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/runtimes/perl/perl_file.h"

#include <optional>

namespace auger {

// Nothing when the file does not hold Perl.
std::optional<PerlFile> read_perl(const ElfFile& file);

} // namespace auger
