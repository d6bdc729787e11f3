// SPDX-License-Identifier: GPL-3.0-or-later
// What code of the optimizing compiler says of a place in it: the functions that are inlined there.
#pragma once

#include "loader/runtimes/function_problem.h"
#include "loader/runtimes/read_memory.h"
#include "loader/runtimes/v8/layout.h"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace auger {

struct V8CodePlace {
    struct Inlined {
        uint64_t shared = 0;   // the pointer to its SharedFunctionInfo
        uint32_t position = 0; // in its script
        friend bool operator==(const Inlined&, const Inlined&) = default;
    };
    std::vector<Inlined> inlined;       // innermost first
    std::optional<uint32_t> position{}; // of the function whose code it is; nothing: not known

    friend bool operator==(const V8CodePlace&, const V8CodePlace&) = default;
};

// `code`: the pointer to the Code; `second`: the frame's second word with it (bpf/wire/v8.h);
// `shared`: the pointer to the SharedFunctionInfo of the function whose code it is.
std::variant<V8CodePlace, FunctionProblem> read_v8_code_place(const ReadMemory& read,
                                                              const V8Layout& layout, uint64_t code,
                                                              uint64_t second, uint64_t shared);

} // namespace auger
