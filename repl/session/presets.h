// SPDX-License-Identifier: GPL-3.0-or-later
// Presets: the commands that time the requests of programs that are well known, as command files of
// repl/presets, which are part of the program. A preset is named after the program.
#pragma once

#include <span>
#include <string_view>

namespace auger {

struct Preset {
    std::string_view program; // as its process is called
    std::string_view text;    // a command file
};
// Written by CMake.
std::span<const Preset> presets();

} // namespace auger
