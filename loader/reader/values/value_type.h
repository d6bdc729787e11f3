// SPDX-License-Identifier: GPL-3.0-or-later
// ValueType: what a value is, as far as it matters to reading, comparing and showing it.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <string>

namespace auger {

struct ValueType {
    enum class Kind : uint8_t {
        word, // 8 bytes of which nothing more is known
        integer,
        boolean,
        character,
        enumeration,
        pointer, // a reference too
        structure,
        array,
        floating,
        nothing, // void
        other,   // that no value can be made of
    };
    Kind kind = Kind::word;
    uint64_t size = 8; // bytes; 0: not known
    bool is_signed = true;
    std::string name{}; // for messages: "struct request"
    // Without typedefs and qualifiers; used only by what reads DWARF. No `addr`: there is none.
    Dwarf_Die die{};
    // Of a pointer, or an array's element, that stands in no debug information.
    std::shared_ptr<const ValueType> target{};

    // Whether a number can be made of it.
    bool scalar() const { return kind <= Kind::pointer; }
};

} // namespace auger
