// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/usdt_values.h"

#include "loader/reader/elf/symbol_address.h"
#include "loader/reader/values/operand.h"
#include "loader/reader/values/usdt_operand.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace auger {
namespace {

constexpr size_t most_arguments = 64;
constexpr uint64_t register_bytes = 8;

Error no_argument(std::string cause, std::string hint = {}) {
    return {{}, {}, std::move(cause), std::move(hint), Error::Kind::failed};
}

// Its bytes, negative: signed; and what is written behind the @.
struct SizedOperand {
    int size;
    bool floating;
    std::string_view operand;
};

// Without a size it is as large as a register.
std::optional<SizedOperand> take_size(std::string_view text) {
    const size_t at = text.find('@');
    if (at == text.npos)
        return SizedOperand{register_bytes, false, text};
    SizedOperand sized{0, false, text.substr(at + 1)};
    const auto [end, error] = std::from_chars(text.data(), text.data() + at, sized.size);
    const std::string_view rest(end, static_cast<size_t>(text.data() + at - end));
    sized.floating = rest == "f";
    const int size = sized.size < 0 ? -sized.size : sized.size;
    if (error != std::errc() || (!rest.empty() && !sized.floating) ||
        (size != 1 && size != 2 && size != 4 && size != 8))
        return std::nullopt;
    return sized;
}

ValueType type_of_size(int size) {
    ValueType type;
    type.is_signed = size < 0;
    type.size = static_cast<uint64_t>(size < 0 ? -size : size);
    type.name = fmt::format("{}{}", size < 0 ? 's' : 'u', type.size * 8);
    // What may be a pointer is used as one.
    type.kind = size == 8 ? ValueType::Kind::word : ValueType::Kind::integer;
    return type;
}

std::optional<uint64_t> address_of(const ValueScope& scope, std::string_view symbol) {
    auto address = scope.file ? symbol_address(*scope.file, symbol) : std::nullopt;
    if (!address && scope.debug && scope.debug->debug_file())
        address = symbol_address(*scope.debug->debug_file(), symbol);
    return address;
}

// The site is where the instruction pointer is.
Result<Place> at_symbol(const ValueScope& scope, const UsdtOperand& operand, ValueType type) {
    const auto address = address_of(scope, operand.symbol);
    if (!address)
        return no_argument(
            fmt::format("it lies at \"{}\", which is no symbol of the file's", operand.symbol),
            "a stripped file's debug package may have it");
    Place place = Place::of_register(register_code, std::move(type));
    place.in_memory = true;
    place.offsets = {
        static_cast<int64_t>(*address + static_cast<uint64_t>(operand.number) - scope.address)};
    return place;
}

Result<Place> place_of(const ValueScope& scope, const UsdtOperand& operand, ValueType type) {
    switch (operand.kind) {
    case UsdtOperand::Kind::in_register: {
        type.size = std::min<uint64_t>(type.size, operand.size);
        if (type.size < register_bytes)
            type.kind = ValueType::Kind::integer;
        Place place = Place::of_register(operand.dwarf_register, std::move(type));
        place.register_shift = operand.shift;
        return place;
    }
    case UsdtOperand::Kind::in_memory: {
        Place place = Place::of_register(operand.dwarf_register, std::move(type));
        place.in_memory = true;
        place.offsets = {operand.number};
        return place;
    }
    case UsdtOperand::Kind::at_symbol:
        return at_symbol(scope, operand, std::move(type));
    case UsdtOperand::Kind::constant:
        break;
    }
    Place place;
    place.base = WIRE_BASE_CONSTANT;
    Computation constant;
    constant.constant = static_cast<uint64_t>(operand.number);
    place.computation = std::make_shared<const Computation>(std::move(constant));
    place.type = std::move(type);
    return place;
}

} // namespace

std::vector<std::string_view> split_usdt_arguments(std::string_view arguments) {
    std::vector<std::string_view> all;
    while (all.size() < most_arguments) {
        const size_t begin = arguments.find_first_not_of(' ');
        if (begin == arguments.npos)
            break;
        arguments.remove_prefix(begin);
        const size_t end = std::min(arguments.find(' '), arguments.size());
        all.push_back(arguments.substr(0, end));
        arguments.remove_prefix(end);
    }
    return all;
}

Result<Place> usdt_argument(const ValueScope& scope, unsigned number) {
    const auto all = split_usdt_arguments(*scope.usdt_arguments);
    if (number >= all.size())
        return no_argument(all.empty() ? fmt::format("{} has no arguments", scope.function)
                                       : fmt::format("{} has {} argument{}", scope.function,
                                                     all.size(), all.size() == 1 ? "" : "s"),
                           all.empty() ? "" : "the first one is arg0");
    const auto sized = take_size(all[number]);
    if (!sized)
        return no_argument(fmt::format("its size is not understood ({})", all[number]));
    if (sized->floating)
        return no_argument(
            fmt::format("it is a floating-point number ({}), which cannot be read", all[number]));
    auto operand = parse_usdt_operand(sized->operand);
    if (!operand)
        return no_argument(operand.error().cause + ", and cannot be read");
    return place_of(scope, *operand, type_of_size(sized->size));
}

} // namespace auger
