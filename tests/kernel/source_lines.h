// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of test programs that tests speak of, found by the comments that mark them.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

namespace auger::test {

// "drilldown.c:181", of the line that ends in `// MARKER`.
inline std::string marked_line(const std::string& file, const std::string& marker) {
    std::ifstream source(std::string(AUGER_SOURCE_DIR) + "/tests/programs/" + file);
    std::string text;
    for (int number = 1; std::getline(source, text); number++) {
        if (text.ends_with("// " + marker))
            return file.substr(file.rfind('/') + 1) + ":" + std::to_string(number);
    }
    throw std::runtime_error(file + " has no line marked " + marker);
}

} // namespace auger::test
