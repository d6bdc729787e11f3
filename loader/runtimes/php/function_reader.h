// SPDX-License-Identifier: GPL-3.0-or-later
// A function of a PHP program, read out of its process. Functions die with the request that has
// made them, and their memory becomes others'; the cookie tells.
#pragma once

#include "loader/runtimes/function_problem.h"
#include "loader/runtimes/php/layout.h"
#include "loader/runtimes/read_memory.h"

#include <cstdint>
#include <string>
#include <variant>

namespace auger {

struct PhpFunction {
    std::string name; // "Class::method", "function", "{closure}"; empty: it is the code of a file
    std::string file; // empty: PHP's own
    uint32_t first_line = 0; // 0: PHP's own
};

// `cookie`: wire_php_cookie() as the stack was taken.
std::variant<PhpFunction, FunctionProblem> read_php_function(const ReadMemory& read,
                                                             const PhpLayout& layout,
                                                             uint64_t address, uint32_t cookie);

} // namespace auger
