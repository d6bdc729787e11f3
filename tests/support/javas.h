// SPDX-License-Identifier: GPL-3.0-or-later
// The Java programs that tests run: Debian's 17 always; others by
// AUGER_JAVAS=/path/to/java:/path/to/java.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace auger::test {

inline std::vector<std::string> javas() {
    std::vector<std::string> all = {"/usr/lib/jvm/java-17-openjdk-amd64/bin/java"};
    const char* const others = std::getenv("AUGER_JAVAS");
    std::istringstream paths(others ? others : "");
    for (std::string path; std::getline(paths, path, ':');)
        if (!path.empty())
            all.push_back(path);
    return all;
}

} // namespace auger::test
