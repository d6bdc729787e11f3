// SPDX-License-Identifier: GPL-3.0-or-later
// Which frames of a stack are shown: those of an interpreter's or virtual machine's language, those
// of machine code, or both.
#pragma once

#include "views/model/symbol_tables.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace auger {

enum class FrameChoice : uint8_t {
    all,
    language, // of Python, PHP, Ruby, Perl, Java and JavaScript, and what runtimes generate
    native,   // of programs, libraries and the kernel, system calls
};

// How the stack of a call is shown.
struct StackOptions {
    FrameChoice frames = FrameChoice::all;
    size_t depth = 16; // so many of these frames, the innermost ones; 0: all
};
inline constexpr StackOptions whole_stack{FrameChoice::all, 0};

// "all", "language", "native".
std::string_view name_of(FrameChoice);
FrameChoice next_after(FrameChoice);

// Whether a runtime executes or generates it.
bool is_of_language(const SymbolTables&, FunctionId);
bool is_chosen(const SymbolTables&, FunctionId, FrameChoice);
// Takes the others out.
void keep_chosen(const SymbolTables&, FrameChoice, std::vector<FunctionId>& path);

} // namespace auger
