// SPDX-License-Identifier: GPL-3.0-or-later
// ThreadVariable: where an ELF file has a thread-local variable that it exports, and where the
// dynamic linker notes how threads find it.
#pragma once

#include "loader/base/bytes.h"

#include <cstdint>
#include <optional>

namespace auger {

struct ThreadVariable {
    // What the dynamic linker writes for the file's own code.
    struct Slot {
        enum class Kind : uint8_t {
            offset,            // a word: how far a variable is from the thread pointer
            module,            // a word: the number of this file's block
            module_and_offset, // two words: the number of a block, and where the variable is in it
            descriptor, // two words: a function, and what it is given: as `offset`, or a pointer to
                        // as `module_and_offset`
        };
        Kind kind = Kind::offset;
        uint64_t address = 0; // as linked
        int64_t distance = 0; // from the variable that it is of to this one
        friend bool operator==(const Slot&, const Slot&) = default;
    };

    uint64_t offset = 0;        // in the file's block
    uint64_t block_size = 0;    // of that, in multiples of its alignment
    std::optional<Slot> slot{}; // nothing: the code does without, as a program's may
    friend bool operator==(const ThreadVariable&, const ThreadVariable&) = default;
};

void put_thread_variable(ByteWriter& out, const ThreadVariable& variable);
ThreadVariable take_thread_variable(ByteReader& in); // `in` has failed when it makes no sense

} // namespace auger
