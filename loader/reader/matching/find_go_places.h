// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/probes/go_places.h"
#include "loader/reader/elf/elf_file.h"

namespace auger {

// Nothing of either for what is no Go program.
GoPlaces find_go_places(const ElfFile& file);

} // namespace auger
