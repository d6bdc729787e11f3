// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/encoded_pointer.h"

namespace auger {
namespace {

enum Format : uint8_t {
    unsigned_leb = 0x01,
    unsigned_2 = 0x02,
    unsigned_4 = 0x03,
    unsigned_8 = 0x04,
    signed_8_native = 0x08,
    signed_leb = 0x09,
    signed_2 = 0x0a,
    signed_4 = 0x0b,
    signed_8 = 0x0c,
};

enum Base : uint8_t {
    base_none = 0x00,
    base_own_place = 0x10,
    base_text = 0x20,
    base_data = 0x30,
    base_aligned = 0x50,
    base_mask = 0x70,
    indirect = 0x80,
};

template <typename Signed>
uint64_t extended(ByteCursor& cursor) {
    return static_cast<uint64_t>(static_cast<int64_t>(cursor.number<Signed>()));
}

} // namespace

std::optional<uint64_t> read_number(ByteCursor& cursor, uint8_t encoding) {
    uint64_t value = 0;
    switch (encoding & pointer_format) {
    case pointer_absolute:
    case unsigned_8:
    case signed_8_native:
    case signed_8:
        value = cursor.number<uint64_t>();
        break;
    case signed_4:
        value = extended<int32_t>(cursor);
        break;
    case unsigned_4:
        value = cursor.number<uint32_t>();
        break;
    case unsigned_2:
        value = cursor.number<uint16_t>();
        break;
    case signed_2:
        value = extended<int16_t>(cursor);
        break;
    case unsigned_leb:
        value = cursor.uleb();
        break;
    case signed_leb:
        value = static_cast<uint64_t>(cursor.sleb());
        break;
    default:
        cursor.fail();
    }
    if (cursor.failed())
        return std::nullopt;
    return value;
}

std::optional<uint64_t> read_pointer(ByteCursor& cursor, uint8_t encoding,
                                     const PointerBases& bases, uint64_t offset) {
    if (encoding == pointer_omitted || (encoding & indirect))
        return std::nullopt;
    const uint64_t place = bases.section + offset + cursor.position();
    uint64_t base = 0;
    switch (encoding & base_mask) {
    case base_none:
        break;
    case base_own_place:
        base = place;
        break;
    case base_text:
        base = bases.text;
        break;
    case base_data:
        base = bases.data;
        break;
    case base_aligned:
        cursor.take(-place & 7);
        break;
    default:
        return std::nullopt;
    }
    const auto number = read_number(cursor, encoding);
    if (!number)
        return std::nullopt;
    return base + *number;
}

} // namespace auger
