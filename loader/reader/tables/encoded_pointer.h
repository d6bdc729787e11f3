// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses as exception tables write them (DW_EH_PE_*): a byte says how wide the number is and
// what it is relative to.
#pragma once

#include "loader/unwind/byte_cursor.h"

#include <optional>

namespace auger {

// What numbers may be relative to: addresses as linked.
struct PointerBases {
    uint64_t section = 0; // of the section that is read; a number's own address is counted from it
    uint64_t text = 0;
    uint64_t data = 0; // the global offset table
};

enum PointerEncoding : uint8_t {
    pointer_absolute = 0x00, // eight bytes
    pointer_omitted = 0xff,
    pointer_format = 0x0f, // the bits of the number's width and sign
};

// The number alone, whatever it is relative to. Nothing, and the cursor failed, for a width that
// does not exist.
std::optional<uint64_t> read_number(ByteCursor& cursor, uint8_t encoding);

// `offset`: of the cursor's first byte in the section. Nothing for an address that stands elsewhere
// (indirect), is relative to what we do not know, or is left out.
std::optional<uint64_t> read_pointer(ByteCursor& cursor, uint8_t encoding,
                                     const PointerBases& bases, uint64_t offset);

} // namespace auger
