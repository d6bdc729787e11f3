// SPDX-License-Identifier: GPL-3.0-or-later
// Each basic part of a value has a register of its own; a value whose parts do not all find one is
// on the stack, and takes none from those behind it.
#include "loader/reader/values/calling_convention.h"

#include "loader/reader/values/dwarf_types.h"

#include <algorithm>
#include <iterator>

namespace auger {
namespace {

using Kind = ValueType::Kind;

constexpr uint8_t word_registers[] = {0, 3, 2,  5, 4,
                                      8, 9, 10, 11}; // rax rbx rcx rdi rsi r8 r9 r10 r11
constexpr size_t float_registers = 15;

// A structure can be spoken of where its first two words are parts of it.
bool begins_with_words(const std::vector<TypeLeaf>& leaves) {
    for (size_t i = 0; i < std::min<size_t>(leaves.size(), 2); i++)
        if (leaves[i].offset != static_cast<int64_t>(8 * i) || leaves[i].type.size != 8 ||
            leaves[i].type.kind == Kind::floating)
            return false;
    return true;
}

} // namespace

std::optional<Place> go_argument_place(unsigned number, ValueType type) {
    if (number >= std::size(word_registers))
        return std::nullopt;
    return Place::of_register(word_registers[number], std::move(type));
}

std::vector<std::optional<Place>> go_result_places(const std::vector<ValueType>& results) {
    std::vector<std::optional<Place>> places(results.size());
    size_t words = 0, vectors = 0;
    for (size_t i = 0; i < results.size(); i++) {
        const ValueType& type = results[i];
        std::vector<TypeLeaf> leaves;
        if (!flatten(type, leaves) || std::ranges::any_of(leaves, [](const TypeLeaf& leaf) {
                return leaf.type.kind == Kind::other || leaf.type.size > 8;
            }))
            return places;
        const auto floats = static_cast<size_t>(std::ranges::count(
            leaves, Kind::floating, [](const TypeLeaf& leaf) { return leaf.type.kind; }));
        const size_t others = leaves.size() - floats;
        if (holds_array(type) || words + others > std::size(word_registers) ||
            vectors + floats > float_registers)
            continue; // on the stack
        if (others > 0 &&
            (type.kind == Kind::structure ? begins_with_words(leaves) : floats == 0)) {
            Place place = Place::of_register(word_registers[words], type);
            if (others > 1)
                place.second_register = word_registers[words + 1];
            place.at_end = true;
            places[i] = std::move(place);
        }
        words += others;
        vectors += floats;
    }
    return places;
}

} // namespace auger
