// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/runtimes/hotspot/hotspot_file.h"

#include <optional>

namespace auger {

// Nothing when the file does not hold HotSpot.
std::optional<HotspotFile> read_hotspot(const ElfFile& file);

} // namespace auger
