// SPDX-License-Identifier: GPL-3.0-or-later
// V8Heap: the objects of a process's V8, by their pointers, as they are while something is looked
// up in them.
#pragma once

#include "loader/runtimes/bounded_memory.h"
#include "loader/runtimes/function_problem.h"
#include "loader/runtimes/v8/layout.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace auger {

class V8Heap {
  public:
    V8Heap(const ReadMemory& read, const V8Objects& objects) : memory_(read), objects_(objects) {}

    static bool is_pointer(uint64_t word) { return (word & WIRE_V8_TAG_MASK) == WIRE_V8_TAG; }
    // What an object has at an offset.
    template <typename Value>
    bool get(uint64_t pointer, uint32_t offset, Value& value) {
        return memory_.get(pointer - WIRE_V8_TAG + offset, value);
    }
    bool bytes(uint64_t pointer, uint32_t offset, std::span<std::byte> bytes) {
        return memory_.bytes(pointer - WIRE_V8_TAG + offset, bytes.data(), bytes.size());
    }
    // A word that is a pointer, or a small integer. Nothing also when it is something else.
    std::optional<uint64_t> pointer(uint64_t object, uint32_t offset);
    std::optional<int32_t> integer(uint64_t object, uint32_t offset);
    // The type of an object; nothing: it cannot be read.
    std::optional<uint16_t> type(uint64_t pointer);
    bool is_string(uint16_t type) const { return !(type & objects_.not_string_mask); }

    // A text, in UTF-8. Of more characters than `most` the first, and "...".
    std::optional<std::string> text(uint64_t string, size_t most);
    // Where the characters of a text are that stand in one piece. Nothing also when they do not.
    struct Characters {
        uint64_t address = 0;
        uint32_t count = 0;
        bool one_byte = true; // Latin-1; else UTF-16
    };
    std::optional<Characters> characters(uint64_t string);

    // Something could not be read.
    bool failed() const { return memory_.failed(); }
    FunctionProblem problem() const {
        return memory_.late() ? FunctionProblem::late : FunctionProblem::unreadable;
    }

  private:
    // A part of a text.
    struct Piece {
        uint64_t string;
        uint32_t from, count;
    };
    // Characters; or what the piece is made of, in this order.
    struct Parts {
        std::optional<Characters> characters{};
        Piece first{}, second{};
    };
    std::optional<Parts> parts(const Piece& piece);
    bool append(std::string& text, const Characters& characters);

    BoundedMemory memory_;
    const V8Objects& objects_;
};

} // namespace auger
