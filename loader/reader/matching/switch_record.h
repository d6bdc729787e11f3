// SPDX-License-Identifier: GPL-3.0-or-later
// What find_switches() found in a file, to be remembered on disk. Anybody can write another's build
// id into a file, so a record is believed only with a hash, under a seed that its owner alone
// knows, of all that was read.
#pragma once

#include "loader/reader/matching/module_switches.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace auger {

std::vector<std::byte> encode_switches(const ModuleSwitches& switches, const ElfFile& file);
// Nothing when it is broken, of another version, or of another file.
std::optional<ModuleSwitches> decode_switches(std::span<const std::byte> record,
                                              const ElfFile& file);

struct SwitchesRead {
    std::string objection;         // text_of()
    std::vector<std::byte> record; // to be remembered; empty: the one that was given holds
};
// `record`: what was remembered, or nothing.
SwitchesRead read_switches(const ElfFile& file, std::span<const std::byte> record);

} // namespace auger
