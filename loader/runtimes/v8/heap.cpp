// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/v8/heap.h"

#include "loader/runtimes/utf8.h"

#include <algorithm>
#include <vector>

namespace auger {
namespace {

constexpr int integer_bits = 32;    // below a small integer; they are 0
constexpr size_t most_pieces = 256; // of which a text is made

} // namespace

std::optional<uint64_t> V8Heap::pointer(uint64_t object, uint32_t offset) {
    uint64_t word = 0;
    return get(object, offset, word) && is_pointer(word) ? std::optional(word) : std::nullopt;
}

std::optional<int32_t> V8Heap::integer(uint64_t object, uint32_t offset) {
    uint64_t word = 0;
    if (!get(object, offset, word) || static_cast<uint32_t>(word))
        return std::nullopt;
    return static_cast<int32_t>(word >> integer_bits);
}

std::optional<uint16_t> V8Heap::type(uint64_t object) {
    uint16_t type = 0;
    const auto map = is_pointer(object) ? pointer(object, 0) : std::nullopt;
    return map && get(*map, objects_.map_type, type) ? std::optional(type) : std::nullopt;
}

std::optional<V8Heap::Parts> V8Heap::parts(const Piece& piece) {
    const auto kind = type(piece.string);
    uint32_t length = 0;
    if (!kind || !is_string(*kind) || !get(piece.string, objects_.string_length, length) ||
        piece.from > length || piece.count > length - piece.from)
        return std::nullopt;
    const uint32_t representation = *kind & objects_.representation_mask;
    const auto one_part = [](std::optional<uint64_t> string, uint32_t from,
                             uint32_t count) -> std::optional<Parts> {
        if (!string)
            return std::nullopt;
        return Parts{.first = {*string, from, count}};
    };
    if (representation == objects_.thin_tag)
        return one_part(pointer(piece.string, objects_.thin_actual), piece.from, piece.count);
    if (representation == objects_.sliced_tag) {
        const auto offset = integer(piece.string, objects_.sliced_offset);
        if (!offset || *offset < 0 || piece.from > INT32_MAX)
            return std::nullopt;
        return one_part(pointer(piece.string, objects_.sliced_parent),
                        piece.from + static_cast<uint32_t>(*offset), piece.count);
    }
    if (representation == objects_.cons_tag) {
        const auto first = pointer(piece.string, objects_.cons_first);
        const auto second = pointer(piece.string, objects_.cons_second);
        uint32_t first_length = 0;
        if (!first || !second || !get(*first, objects_.string_length, first_length))
            return std::nullopt;
        const uint32_t of_first =
            piece.from < first_length ? std::min(piece.count, first_length - piece.from) : 0;
        const uint32_t before = piece.from > first_length ? piece.from - first_length : 0;
        return Parts{.first = {*first, of_first ? piece.from : 0, of_first},
                     .second = {*second, before, piece.count - of_first}};
    }
    Characters characters;
    characters.one_byte = (*kind & objects_.encoding_mask) == objects_.one_byte_tag;
    characters.count = piece.count;
    if (representation == objects_.external_tag) {
        if (!get(piece.string, objects_.external_data, characters.address))
            return std::nullopt;
    } else if (representation == 0) {
        characters.address =
            piece.string - WIRE_V8_TAG +
            (characters.one_byte ? objects_.one_byte_characters : objects_.two_byte_characters);
    } else {
        return std::nullopt;
    }
    characters.address += uint64_t{piece.from} * (characters.one_byte ? 1 : 2);
    return Parts{.characters = characters};
}

bool V8Heap::append(std::string& text, const Characters& characters) {
    uint32_t high = 0; // of a pair of surrogates
    for (uint32_t i = 0; i < characters.count; i++) {
        uint8_t narrow = 0;
        uint16_t wide = 0;
        const bool read = characters.one_byte ? memory_.get(characters.address + i, narrow)
                                              : memory_.get(characters.address + 2ull * i, wide);
        if (!read)
            return false;
        const uint32_t unit = characters.one_byte ? narrow : wide;
        const bool is_low = unit >= 0xdc00 && unit < 0xe000;
        if (high && is_low) {
            append_utf8(text, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
            high = 0;
            continue;
        }
        if (high)
            append_utf8(text, high);
        high = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
        if (!high)
            append_utf8(text, unit);
    }
    if (high)
        append_utf8(text, high);
    return true;
}

std::optional<std::string> V8Heap::text(uint64_t string, size_t most) {
    uint32_t length = 0;
    if (!is_pointer(string) || !get(string, objects_.string_length, length))
        return std::nullopt;
    const bool whole = length <= most;
    std::string text;
    std::vector<Piece> pieces = {{string, 0, whole ? length : static_cast<uint32_t>(most)}};
    for (size_t count = 0; !pieces.empty(); count++) {
        const auto parts = count < most_pieces ? this->parts(pieces.back()) : std::nullopt;
        pieces.pop_back();
        if (!parts || (parts->characters && !append(text, *parts->characters)))
            return std::nullopt;
        for (const Piece& part : {parts->second, parts->first})
            if (part.count)
                pieces.push_back(part);
    }
    return whole ? text : text + "...";
}

std::optional<V8Heap::Characters> V8Heap::characters(uint64_t string) {
    Piece piece{string, 0, 0};
    if (!is_pointer(string) || !get(string, objects_.string_length, piece.count))
        return std::nullopt;
    for (size_t count = 0; count < most_pieces; count++) {
        const auto parts = this->parts(piece);
        if (!parts || parts->characters)
            return parts ? parts->characters : std::nullopt;
        if (parts->first.count && parts->second.count)
            return std::nullopt;
        piece = parts->first.count ? parts->first : parts->second;
    }
    return std::nullopt;
}

} // namespace auger
