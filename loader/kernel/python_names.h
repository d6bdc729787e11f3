// SPDX-License-Identifier: GPL-3.0-or-later
// PythonNames: CPython's functions, by the words that a walk has of its frames (bpf/wire/python.h).
#pragma once

#include "bpf/unwind_table.h"
#include "loader/kernel/function_names.h"
#include "loader/runtimes/python/code_reader.h"

namespace auger {

struct PythonFunctions {
    using Layout = PythonLayout;
    using Function = PythonCode;
    static constexpr const char* label = "python";
    static constexpr uint64_t frame_kind = WIRE_FRAME_PYTHON;

    static std::variant<PythonCode, FunctionProblem>
    read(const ReadMemory& read, const PythonLayout& layout, uint64_t address, uint32_t cookie) {
        return read_python_code(read, layout, address, cookie);
    }
    static FunctionName name(const PythonCode& code, uint64_t second);
    static size_t bytes_of(const PythonCode& code) {
        return code.function.capacity() + code.file.capacity() + code.lines.capacity();
    }
};

using PythonNames = FunctionNames<PythonFunctions>;

} // namespace auger
