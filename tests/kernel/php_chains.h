// SPDX-License-Identifier: GPL-3.0-or-later
// What samples say of PHP's chains of calls; programs say it as tests/programs/php_chains.php does.
#pragma once

#include "tests/kernel/interpreted_chains.h"

#include <vector>

namespace auger::test {

// Debian's, without and with opcache, and what AUGER_PHPS names.
std::vector<InterpreterMode> php_modes();

using PhpStack = InterpretedStack;

PhpStack look_at_php(Session& session, StackId stack);
Agreement compare_php(const PhpStack& seen, const PythonStretch& truth);
bool is_innermost_part_of_php(PhpStack seen, const PythonStretch& truth);

using PhpTest = InterpreterTest;

} // namespace auger::test
