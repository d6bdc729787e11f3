// SPDX-License-Identifier: GPL-3.0-or-later
// PhpNames: PHP's functions, by the words that a walk has of its frames (bpf/wire/php.h).
#pragma once

#include "bpf/unwind_table.h"
#include "loader/kernel/function_names.h"
#include "loader/runtimes/php/function_reader.h"

namespace auger {

struct PhpFunctions {
    using Layout = PhpLayout;
    using Function = PhpFunction;
    static constexpr const char* label = "php";
    static constexpr uint64_t frame_kind = WIRE_FRAME_PHP;

    static std::variant<PhpFunction, FunctionProblem>
    read(const ReadMemory& read, const PhpLayout& layout, uint64_t address, uint32_t cookie) {
        return read_php_function(read, layout, address, cookie);
    }
    static FunctionName name(const PhpFunction& function, uint64_t second);
    static size_t bytes_of(const PhpFunction& function) {
        return function.name.capacity() + function.file.capacity();
    }
};

using PhpNames = FunctionNames<PhpFunctions>;

} // namespace auger
