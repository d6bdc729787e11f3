// SPDX-License-Identifier: GPL-3.0-or-later
// A function of a Python program, read out of its process: names and the table of lines. Code
// objects die, and their memory becomes others'; the cookie tells.
#pragma once

#include "loader/runtimes/function_problem.h"
#include "loader/runtimes/python/layout.h"
#include "loader/runtimes/read_memory.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace auger {

struct PythonCode {
    std::string function; // co_qualname, up to 3.10 co_name; UTF-8
    std::string file;     // co_filename
    uint32_t first_line = 0;
    std::vector<std::byte> lines; // see line_table.h; empty: none, or too large a table
    PythonLines form = python_lines_locations; // of `lines`
};

using PythonCodeProblem = FunctionProblem;

// What a code object is known by now. Nothing: its memory cannot be read.
std::optional<uint32_t> python_code_cookie(const ReadMemory& read, const PythonLayout& layout,
                                           uint64_t address);

// `cookie`: wire_python_cookie() as the stack was taken.
std::variant<PythonCode, PythonCodeProblem> read_python_code(const ReadMemory& read,
                                                             const PythonLayout& layout,
                                                             uint64_t address, uint32_t cookie);

} // namespace auger
