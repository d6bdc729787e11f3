// SPDX-License-Identifier: GPL-3.0-or-later
// DwarfSource: where a module's DWARF is, for whoever reads it.
#pragma once

#include "loader/base/fd.h"

#include <memory>
#include <string>

namespace auger {

struct DwarfSource {
    std::shared_ptr<const UniqueFd> file;
    std::string name;                            // of the file, for messages
    std::shared_ptr<const UniqueFd> alternative; // what dwz has put elsewhere, or null
    std::string problem;                         // why it cannot be read; empty when it may be
};

inline constexpr const char* damaged_alternative = "damaged .gnu_debugaltlink";
inline constexpr const char* no_alternative = "its dwz file is not installed";

} // namespace auger
