// SPDX-License-Identifier: GPL-3.0-or-later
// first_thread_access: where a thread-local variable lies that no symbol names, by code that reads
// it. How code does so is the machine's (loader/arch).
#pragma once

#include "loader/reader/code/function_code.h"

#include <cstdint>
#include <optional>

namespace auger {

// Code of a library asks for the block that the thread has of it, by what the dynamic linker has
// noted in two words, and reads a variable in it.
struct ThreadAccess {
    uint64_t slot;   // address of the two words, as linked: the number of the block, an offset
    uint64_t offset; // from there, the variable's
    friend bool operator==(const ThreadAccess&, const ThreadAccess&) = default;
};

// The first one in the code of a function. Nothing: there is none, or it is done in another way.
std::optional<ThreadAccess> first_thread_access(const CodePart& code);

} // namespace auger
