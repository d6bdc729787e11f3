// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/calling_convention.h"

#include "loader/reader/values/dwarf_types.h"

#include <algorithm>

namespace auger {
namespace {

using Kind = ValueType::Kind;

constexpr unsigned general_registers = 6;
constexpr unsigned vector_registers = 8;

enum class Way {
    nothing, // an empty class takes no room
    general,
    general_pair,
    vector, // floats only, in one or two vector registers
    mixed,  // one of each
    memory,
    reference, // a pointer to a copy
    unknown,
};

struct Classified {
    Way way = Way::unknown;
    unsigned vectors = 0;
    bool general_first = true; // of a mixed one
};

Classified classify_structure(const ValueType& type, bool cpp) {
    const PassedBy by = cpp ? passed_by(type) : PassedBy::value;
    if (by != PassedBy::value)
        return {by == PassedBy::reference ? Way::reference : Way::unknown};
    std::vector<TypeLeaf> leaves;
    const bool flat = flatten(type, leaves);
    // What is aligned to 16 bytes may leave a gap before it.
    const bool plain = flat && std::all_of(leaves.begin(), leaves.end(), [](const TypeLeaf& leaf) {
                           return leaf.type.size <= 8;
                       });
    if (type.size > 16)
        return {plain || type.size % 16 != 0 ? Way::memory : Way::unknown};
    if (!plain)
        return {Way::unknown};
    if (leaves.empty())
        return {cpp ? Way::nothing : Way::unknown};
    bool general[2] = {}, vector[2] = {};
    for (const TypeLeaf& leaf : leaves) {
        const auto size = static_cast<int64_t>(leaf.type.size);
        if (leaf.offset < 0 || size <= 0 || leaf.offset + size > 16)
            return {Way::unknown};
        if (leaf.type.kind == Kind::other)
            return {Way::unknown};
        if (leaf.offset % size != 0)
            return {Way::memory}; // packed
        (leaf.type.kind == Kind::floating ? vector : general)[leaf.offset / 8] = true;
    }
    const bool two = type.size > 8;
    // A half in which both are is a general register's.
    const bool first = general[0], second = general[1];
    if (!two)
        return first ? Classified{Way::general} : Classified{Way::vector, 1};
    if (first && second)
        return {Way::general_pair};
    if (!first && !second)
        return {Way::vector, 2};
    return {Way::mixed, 1, first};
}

Classified classify(const ValueType& type, bool cpp) {
    switch (type.kind) {
    case Kind::structure:
        return classify_structure(type, cpp);
    case Kind::floating:
        // A 128-bit float of another name is in a vector register.
        return type.size <= 8               ? Classified{Way::vector, 1}
               : type.name == "long double" ? Classified{Way::memory}
                                            : Classified{Way::unknown};
    case Kind::nothing:
    case Kind::other:
        return {Way::unknown};
    case Kind::array: // of a parameter: a pointer
        return {Way::general};
    default:
        return {Way::general};
    }
}

uint8_t general_register(unsigned number) {
    constexpr uint8_t registers[general_registers] = {5, 4, 1, 2, 8, 9}; // rdi rsi rdx rcx r8 r9
    return registers[number];
}

class Arguments {
  public:
    explicit Arguments(bool hidden_result) : general_(hidden_result) {}

    std::optional<Place> next(const ValueType& type, const Classified& classified) {
        switch (classified.way) {
        case Way::nothing:
        case Way::unknown:
            return std::nullopt;
        case Way::general:
            if (general_ < general_registers)
                return Place::of_register(general_register(general_++), type);
            return stack(type, 8);
        case Way::general_pair:
            if (general_ + 2 <= general_registers) {
                Place place = Place::of_register(general_register(general_), type);
                place.second_register = general_register(general_ + 1);
                general_ += 2;
                return place;
            }
            return stack(type, 16);
        case Way::vector:
            if (vector_ + classified.vectors <= vector_registers) {
                vector_ += classified.vectors;
                return std::nullopt;
            }
            return stack(type, 8 * classified.vectors);
        case Way::mixed:
            if (vector_ < vector_registers && general_ < general_registers) {
                ++vector_;
                ++general_;
                return std::nullopt;
            }
            return stack(type, 16);
        case Way::memory:
            if (type.kind == Kind::floating) // long double
                stack_ = (stack_ + 15) / 16 * 16;
            return stack(type, type.size);
        case Way::reference: {
            Place place = general_ < general_registers
                              ? Place::of_register(general_register(general_++), pointer_to(type))
                              : stack(pointer_to(type), 8);
            go_through(place, type);
            return place;
        }
        }
        return std::nullopt;
    }

  private:
    // Structures that are aligned to more than 8 bytes are classified as unknown.
    Place stack(ValueType type, uint64_t size) {
        Place place = Place::of_frame(static_cast<int64_t>(stack_), std::move(type));
        stack_ += (size + 7) / 8 * 8;
        return place;
    }

    unsigned general_;
    unsigned vector_ = 0;
    uint64_t stack_ = 0;
};

} // namespace

Place argument_place(unsigned number, ValueType type) {
    if (number < general_registers)
        return Place::of_register(general_register(number), std::move(type));
    return Place::of_frame(8 * (int64_t{number} - general_registers), std::move(type));
}

std::vector<std::optional<Place>> parameter_places(const std::vector<ValueType>& parameters,
                                                   const ValueType& result, bool cpp) {
    std::vector<std::optional<Place>> places(parameters.size());
    bool hidden = false;
    if (result.kind == Kind::structure) {
        const Way way = classify(result, cpp).way;
        if (way == Way::unknown)
            return places;
        hidden = way == Way::memory || way == Way::reference;
    } else if (result.kind == Kind::other) {
        return places;
    }
    Arguments arguments(hidden);
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Classified classified = classify(parameters[i], cpp);
        if (classified.way == Way::unknown)
            break;
        places[i] = arguments.next(parameters[i], classified);
    }
    return places;
}

std::optional<Place> result_place(const ValueType& result, bool cpp) {
    const Way way = classify(result, cpp).way;
    Place place = Place::of_register(register_result, result);
    place.at_end = true;
    switch (way) {
    case Way::general:
        return place;
    case Way::general_pair:
        place.second_register = register_result_high;
        return place;
    case Way::memory:
    case Way::reference: // rax has its address
        place.in_memory = true;
        return place;
    default:
        return std::nullopt;
    }
}

} // namespace auger
