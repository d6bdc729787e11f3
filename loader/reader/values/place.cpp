// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace auger {
namespace {

constexpr uint64_t register_bits = 64;
constexpr int64_t most_record_bytes = 65'536;

bool is_whole_register(const Place& place) {
    return !place.in_memory && place.register_shift == 0 && place.type.size == 8;
}

// The bytes, aligned as the declared type is, that hold a bit-field; else the smallest that do.
Objection place_bits(const BitField& bits, int64_t& offset, wire_fetch& fetch) {
    const auto holds = [&](uint64_t first_byte, uint64_t bytes) {
        return bits.first + bits.size <= 8 * (first_byte + bytes);
    };
    uint64_t bytes = std::has_single_bit(bits.unit) && bits.unit <= 8 ? bits.unit : 1;
    uint64_t first_byte = bits.first / 8 / bytes * bytes;
    if (!holds(first_byte, bytes)) {
        first_byte = bits.first / 8;
        for (bytes = 1; bytes < 8 && !holds(first_byte, bytes);)
            bytes *= 2;
        if (!holds(first_byte, bytes))
            return "is a bit-field that spans 9 bytes";
    }
    offset += static_cast<int64_t>(first_byte);
    fetch.size = static_cast<uint8_t>(bytes);
    fetch.bit_shift = static_cast<uint8_t>(bits.first - 8 * first_byte);
    fetch.bit_size = static_cast<uint8_t>(bits.size);
    return std::nullopt;
}

} // namespace

Place Place::of_register(uint8_t number, ValueType type) {
    Place place;
    place.number = number;
    place.type = std::move(type);
    return place;
}

Place Place::of_frame(int64_t offset, ValueType type) {
    Place place;
    place.base = WIRE_BASE_CFA;
    place.offsets = {offset};
    place.in_memory = true;
    place.type = std::move(type);
    return place;
}

Objection go_to_member(Place& place, int64_t offset, ValueType type) {
    if (place.in_memory) {
        if (__builtin_add_overflow(place.offsets.back(), offset, &place.offsets.back()))
            return "lies too far away";
    } else {
        const auto at = static_cast<uint64_t>(offset);
        if (offset >= 16)
            return "lies in a third register";
        if (offset < 0 || type.size > 8 - at % 8)
            return "lies in two registers";
        if (at >= 8) {
            if (!place.second_register)
                return "lies in no register";
            place.number = *place.second_register;
        }
        place.register_shift = place.register_shift + at % 8 * 8;
        if (type.size == 8 || at >= 8)
            place.second_register.reset();
    }
    place.type = std::move(type);
    return std::nullopt;
}

Objection go_through(Place& place, ValueType target) {
    if (place.in_memory)
        place.offsets.push_back(0);
    else if (!is_whole_register(place))
        return "is not a whole pointer";
    place.in_memory = true;
    place.bits.reset();
    place.type = std::move(target);
    return std::nullopt;
}

Objection take_address(Place& place, ValueType pointer) {
    if (!place.in_memory)
        return "lies in registers, not in memory";
    if (place.bits)
        return "is a bit-field, which has no address";
    place.in_memory = false;
    place.type = std::move(pointer);
    return std::nullopt;
}

bool add_to_value(Place& place, int64_t bytes, ValueType type) {
    if (place.bits || place.type.size != 8 || (!place.in_memory && !is_whole_register(place)))
        return false;
    int64_t sum = bytes;
    if (place.in_memory ? place.offsets.size() >= WIRE_MAX_OFFSETS
                        : __builtin_add_overflow(place.offsets.back(), bytes, &sum))
        return false;
    if (sum < INT32_MIN || sum > INT32_MAX)
        return false;
    if (place.in_memory)
        place.offsets.push_back(sum);
    else
        place.offsets.back() = sum;
    place.in_memory = false;
    place.type = std::move(type);
    return true;
}

Objection to_fetch(const Place& place, bool string, uint8_t string_size, wire_fetch& fetch) {
    fetch = {};
    if (place.offsets.size() > WIRE_MAX_OFFSETS)
        return fmt::format("takes {} steps through memory: {} is the most", place.offsets.size(),
                           int{WIRE_MAX_OFFSETS});
    fetch.base = place.base;
    fetch.number = place.number;
    fetch.offsets = static_cast<uint8_t>(place.offsets.size());
    fetch.flags = static_cast<uint8_t>((place.in_memory ? WIRE_FETCH_IN_MEMORY : 0) |
                                       (string ? WIRE_FETCH_STRING : 0) |
                                       (place.type.is_signed && !string ? WIRE_FETCH_SIGNED : 0) |
                                       (place.at_end ? WIRE_FETCH_AT_END : 0));
    if ((place.base == WIRE_BASE_RECORD || place.base == WIRE_BASE_DATA_LOC) &&
        (place.offsets.front() < 0 || place.offsets.front() >= most_record_bytes))
        return "lies outside of the tracepoint's record";
    std::vector<int64_t> offsets = place.offsets;
    if (place.bits && place.in_memory) {
        if (Objection objection = place_bits(*place.bits, offsets.back(), fetch))
            return objection;
    } else if (place.in_memory) {
        fetch.size = static_cast<uint8_t>(place.type.size);
    } else {
        const uint64_t first = place.register_shift + (place.bits ? place.bits->first : 0);
        const uint64_t size = place.bits ? place.bits->size : 8 * place.type.size;
        if (first + size > register_bits)
            return "lies in two registers";
        if (first || place.bits) {
            fetch.size = 8;
            fetch.bit_shift = static_cast<uint8_t>(first);
            fetch.bit_size = static_cast<uint8_t>(size == register_bits ? 0 : size);
        } else {
            fetch.size = static_cast<uint8_t>(place.type.size);
        }
    }
    if (string)
        fetch.size = string_size;
    for (size_t i = 0; i < offsets.size(); ++i) {
        if (offsets[i] < INT32_MIN || offsets[i] > INT32_MAX)
            return "lies too far away";
        fetch.offset[i] = static_cast<int32_t>(offsets[i]);
    }
    return std::nullopt;
}

} // namespace auger
