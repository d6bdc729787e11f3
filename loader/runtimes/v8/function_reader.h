// SPDX-License-Identifier: GPL-3.0-or-later
// The function of a frame of V8's, read out of its process. Objects move and die, and their memory
// becomes others'; the cookie tells.
#pragma once

#include "loader/runtimes/function_problem.h"
#include "loader/runtimes/read_memory.h"
#include "loader/runtimes/v8/layout.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace auger {

// What a script is known by.
struct V8Script {
    uint64_t pointer = 0; // to the Script
    uint64_t source = 0;  // to its text; no pointer: it has none
    int32_t id = 0;
    uint32_t length = 0; // of its text, in characters

    friend auto operator<=>(const V8Script&, const V8Script&) = default;
};

struct V8Function {
    std::string name; // UTF-8; empty: it has none
    std::string file; // of the script, as that is named; empty: it has no name
    std::optional<V8Script> script{};
    // Positions in the script, in characters; nothing: not known.
    std::optional<uint32_t> begin{}, end{};
    std::optional<uint32_t> position{}; // what is executed

    friend bool operator==(const V8Function&, const V8Function&) = default;
};

// Of a function that is inlined into another one, as it is now. `shared`: the pointer to its
// SharedFunctionInfo.
std::variant<V8Function, FunctionProblem>
read_v8_inlined(const ReadMemory& read, const V8Layout& layout, uint64_t shared, uint32_t position);
// `shared`: the pointer to its SharedFunctionInfo; `second`: the frame's second word
// (bpf/wire/v8.h).
std::variant<V8Function, FunctionProblem>
read_v8_function(const ReadMemory& read, const V8Layout& layout, uint64_t shared, uint64_t second);

} // namespace auger
