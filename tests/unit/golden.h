// SPDX-License-Identifier: GPL-3.0-or-later
// Golden files: what was drawn once and looked at by a human, under tests/unit/golden.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace auger {

// With AUGER_UPDATE_GOLDEN in the environment the file is written, and the test fails.
inline void expect_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string(AUGER_SOURCE_DIR) + "/tests/unit/golden/" + name;
    if (std::getenv("AUGER_UPDATE_GOLDEN")) {
        std::ofstream(path) << text;
        ADD_FAILURE() << "wrote " << path << ": look at it, then run without the switch";
        return;
    }
    std::ifstream file(path);
    std::stringstream golden;
    golden << file.rdbuf();
    ASSERT_TRUE(file) << "cannot read " << path;
    EXPECT_EQ(text, golden.str());
}

} // namespace auger
