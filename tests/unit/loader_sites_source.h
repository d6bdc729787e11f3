// SPDX-License-Identifier: GPL-3.0-or-later
// What the source of the fixture `sites` says: on which line each `// @NAME` stands.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace auger::test {

inline uint32_t marked_line(const std::string& file, const std::string& name) {
    std::ifstream source(std::string(AUGER_SITES_SOURCE) + "/" + file);
    std::string text;
    for (uint32_t line = 1; std::getline(source, text); ++line)
        if (text.ends_with("// @" + name))
            return line;
    return 0;
}

inline std::string sites_program(const std::string& name) {
    return std::string(AUGER_SITES_DIR) + "/" + name;
}

} // namespace auger::test
