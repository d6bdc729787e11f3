// SPDX-License-Identifier: GPL-3.0-or-later
// thread_stores: what a function stores in thread-local memory of its program, by the code of one
// that does so for its arguments. How code does that is the machine's (loader/arch).
#pragma once

#include "loader/reader/code/function_code.h"

#include <cstdint>
#include <vector>

namespace auger {

struct ThreadStore {
    enum class Value : uint8_t { first_argument, second_argument, constant, other };
    int64_t offset; // from the thread pointer
    Value value;
    int64_t constant; // 0 for other values
    uint8_t size;     // bytes
    friend bool operator==(const ThreadStore&, const ThreadStore&) = default;
};

// Those that are found on the ways from the function's first instruction, each once. `code`: the
// function, whole. What is at a distance from the thread pointer that the
// dynamic linker decides on is not found.
std::vector<ThreadStore> thread_stores(const CodePart& code);

} // namespace auger
