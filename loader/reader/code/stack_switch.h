// SPDX-License-Identifier: GPL-3.0-or-later
// find_stack_switch: may code leave the stack that it runs on? Compilers move the stack pointer by
// amounts that stand in the instruction, and give it values that the function itself has taken from
// it. Whoever switches stacks loads it from elsewhere: from an argument, from memory. What is not
// seen to be the former is taken for the latter.
#pragma once

#include "loader/reader/code/function_code.h"

#include <cstdint>
#include <optional>

namespace auger {

struct StackSwitch {
    enum class Cause : uint8_t {
        loads_stack_pointer,
        system_call, // one that switches stacks or makes code, or whose number is not seen
        no_code,     // bytes that are no instruction, or a jump into the middle of one
    };
    Cause cause;
    uint64_t address; // as linked
};

struct CodeToRead {
    CodePart code;
    enum class Kind : uint8_t {
        function,     // begins with its first byte, and a compiler says where it ends
        part,         // of a function whose frame pointer is set up already
        unknown_code, // any number of functions, and what lies between them
    };
    Kind kind;
};

// The first that is found.
std::optional<StackSwitch> find_stack_switch(const CodeToRead& range);

} // namespace auger
