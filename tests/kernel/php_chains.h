// SPDX-License-Identifier: GPL-3.0-or-later
// What samples say of PHP's chains of calls; programs say it as tests/programs/php_chains.php does.
#pragma once

#include "tests/kernel/python_chains.h"

#include <filesystem>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

namespace auger::test {

// A PHP, and how it is started.
struct PhpMode {
    std::string name, php;
    std::vector<std::string> options;
    friend void PrintTo(const PhpMode& mode, std::ostream* to) { *to << mode.name; }
};

// Debian's, without and with opcache, and what AUGER_PHPS names, separated by colons.
std::vector<PhpMode> php_modes();

// A sample's stack.
struct PhpStack {
    PythonStack all;
    // Of each run of execute_ex() the outermost function; "(nobody)" of frames that no native one
    // runs.
    std::vector<std::string> entries;
};

PhpStack look_at_php(Session& session, StackId stack);

Agreement compare_php(const PhpStack& seen, const PythonStretch& truth);
bool is_innermost_part_of_php(PhpStack seen, const PythonStretch& truth);

class PhpTest : public KernelTest, public testing::WithParamInterface<PhpMode> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!std::filesystem::exists(GetParam().php))
            GTEST_SKIP() << GetParam().php << " is not installed";
    }
    static std::vector<std::string> arguments(std::initializer_list<std::string> more) {
        std::vector<std::string> all = GetParam().options;
        all.insert(all.end(), more);
        return all;
    }
    // Until a table is there, stacks through its module are cut, and PHP's frames are not known.
    static void await_tables(Session& session);
    // Until all is delivered.
    static void await_samples(Session& session);
};

} // namespace auger::test
