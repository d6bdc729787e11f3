// SPDX-License-Identifier: GPL-3.0-or-later
// Presets: the commands that time the requests of programs that are well known, as command files of
// repl/presets, which are part of the program. A preset is named after the program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct Preset {
    std::string_view program; // as its process is called
    std::string_view text;    // a command file
};
// Written by CMake.
std::span<const Preset> presets();

struct TargetStatus;
// Of programs that run in the target.
std::vector<const Preset*> presets_for(const TargetStatus& target);
// Their names; empty: there are none.
std::string preset_programs(const TargetStatus& target);
// What a newcomer would do with them; empty: there are none.
std::string span_advice(const TargetStatus& target);

} // namespace auger
