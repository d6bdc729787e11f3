// SPDX-License-Identifier: GPL-3.0-or-later
// DwarfSource: where a module's lines and inlined functions are told, for whoever reads it: its
// DWARF, and the tables of a Go program.
#pragma once

#include "loader/base/fd.h"

#include <memory>
#include <string>

namespace auger {

struct DwarfSource {
    std::shared_ptr<const UniqueFd> file;        // what has the DWARF, or null
    std::string name;                            // of the file, for messages
    std::shared_ptr<const UniqueFd> alternative; // what dwz has put elsewhere, or null
    std::shared_ptr<const UniqueFd> go_program;  // the module itself, or null
    std::string problem;                         // why it cannot be read; empty when it may be
};

inline constexpr const char* damaged_alternative = "damaged .gnu_debugaltlink";
inline constexpr const char* no_alternative = "its dwz file is not installed";

} // namespace auger
