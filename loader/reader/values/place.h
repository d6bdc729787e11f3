// SPDX-License-Identifier: GPL-3.0-or-later
// Place: where a value of a call lies, step by step from a register, and what type it has. What
// `->`, `*`, `[]` and str() do to it; at the end it becomes a wire_fetch.
#pragma once

#include "bpf/wire.h"
#include "loader/arch/arch.h"
#include "loader/reader/values/value_type.h"

#include ARCH(dwarf_register.h)

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace auger {

// A bit-field: `size` bits from bit `first` of the place on.
struct BitField {
    uint64_t first = 0;
    uint64_t size = 0;
    uint64_t unit = 0; // bytes of its declared type
};

struct Computation; // operand.h

struct Place {
    wire_base base = WIRE_BASE_REGISTER;
    uint8_t number = 0; // of the register
    // Of WIRE_BASE_COMPUTED and WIRE_BASE_CONSTANT.
    std::shared_ptr<const Computation> computation{};
    // As in wire_fetch: all but the last lead through a pointer.
    std::vector<int64_t> offsets{0};
    // What lies at the sum is the value; else the sum itself is.
    bool in_memory = false;
    // The value is part of a register: a structure's member that is passed in it.
    uint64_t register_shift = 0;              // bits
    std::optional<uint8_t> second_register{}; // of a structure passed in two
    std::optional<BitField> bits{};
    bool at_end = false;
    ValueType type{};

    static Place of_register(uint8_t number, ValueType type);
    static Place of_frame(int64_t offset, ValueType type); // from the canonical frame address
};

// Each gives the reason when it cannot be done; nothing when it was.
using Objection = std::optional<std::string>;

// To the part at an offset of what lies at the place.
Objection go_to_member(Place& place, int64_t offset, ValueType type);
// To what the pointer at the place leads to.
Objection go_through(Place& place, ValueType target);
// To the address of what lies at the place, from an array to that of its first element.
Objection take_address(Place& place, ValueType pointer);

// Adds to a value of 8 bytes; false when it is not that, or the sum has to be computed.
bool add_to_value(Place& place, int64_t bytes, ValueType type);

// `string`: what the value points to, at most `string_size` bytes with a NUL.
Objection to_fetch(const Place& place, bool string, uint8_t string_size, wire_fetch& fetch);

} // namespace auger
