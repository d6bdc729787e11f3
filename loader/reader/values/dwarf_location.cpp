// SPDX-License-Identifier: GPL-3.0-or-later
// Location expressions are followed as far as a wire_fetch could: a register or the frame, offsets,
// pointers. At the entry the canonical frame address is 8 bytes above the stack pointer; what lies
// below it is the function's own and not filled yet.
#include "loader/reader/values/dwarf_location.h"

#include <dwarf.h>

#include <optional>
#include <span>

namespace auger {
namespace {

using Operations = std::span<const Dwarf_Op>;

constexpr size_t operation_limit = 64;
constexpr uint64_t registers = 16;    // general ones
constexpr int64_t return_address = 8; // bytes

std::optional<Operations> operations_at(Dwarf_Attribute& attribute, uint64_t address) {
    Dwarf_Op* operations;
    size_t count;
    if (dwarf_getlocation_addr(&attribute, address, &operations, &count, 1) != 1 ||
        count > operation_limit)
        return std::nullopt;
    return Operations(operations, count);
}

// The number in DW_OP_reg0 ..., DW_OP_regx; nothing when it is no such operation.
std::optional<uint64_t> plain_register(const Dwarf_Op& operation) {
    if (operation.atom >= DW_OP_reg0 && operation.atom <= DW_OP_reg31)
        return operation.atom - DW_OP_reg0;
    if (operation.atom == DW_OP_regx)
        return operation.number;
    return std::nullopt;
}

class Evaluation {
  public:
    Evaluation(Dwarf_Attribute& attribute, Dwarf_Die function, uint64_t entry)
        : attribute_(attribute), function_(function), entry_(entry) {}

    EntryLocation whole(Operations operations, const ValueType& type) {
        if (operations.empty())
            return {EntryLocation::Kind::gone, {}};
        size_t end = 0;
        while (end < operations.size() && operations[end].atom != DW_OP_piece &&
               operations[end].atom != DW_OP_bit_piece)
            ++end;
        EntryLocation location = simple(operations.first(end));
        location.place.type = type;
        if (end == operations.size())
            return location;
        if (operations[end].atom != DW_OP_piece)
            return {EntryLocation::Kind::gone, {}};
        if (operations[end].number >= type.size || location.kind != EntryLocation::Kind::known)
            return location;
        // A structure in two registers.
        const Operations rest = operations.subspan(end + 1);
        if (location.place.in_memory || operations[end].number != 8)
            return {EntryLocation::Kind::unsaid, {}};
        if (!rest.empty())
            if (const auto second = plain_register(rest[0]); second && *second < registers)
                location.place.second_register = static_cast<uint8_t>(*second);
        return location;
    }

  private:
    EntryLocation known(Place place) { return {EntryLocation::Kind::known, std::move(place)}; }

    EntryLocation simple(Operations operations) {
        if (operations.empty())
            return {EntryLocation::Kind::gone, {}};
        if (const auto number = plain_register(operations[0])) {
            if (operations.size() != 1 || *number >= registers)
                return {EntryLocation::Kind::unsaid, {}}; // not a general register: a float's
            return known(Place::of_register(static_cast<uint8_t>(*number), {}));
        }
        Place place;
        place.in_memory = true;
        if (auto start = begin(operations[0], place); start != EntryLocation::Kind::known)
            return {start, {}};
        for (const Dwarf_Op& operation : operations.subspan(1)) {
            if (!place.in_memory)
                return {EntryLocation::Kind::unsaid, {}};
            switch (operation.atom) {
            case DW_OP_plus_uconst:
                if (operation.number > INT32_MAX)
                    return {EntryLocation::Kind::unsaid, {}};
                place.offsets.back() += static_cast<int64_t>(operation.number);
                break;
            case DW_OP_deref:
                place.offsets.push_back(0);
                break;
            case DW_OP_stack_value:
                place.in_memory = false;
                break;
            default:
                return {EntryLocation::Kind::unsaid, {}};
            }
        }
        // Below the frame nothing is filled yet.
        if (place.base == WIRE_BASE_CFA && place.offsets[0] < 0 &&
            (place.in_memory || place.offsets.size() > 1))
            return {EntryLocation::Kind::unsaid, {}};
        return known(std::move(place));
    }

    // The address that the first operation puts on the stack.
    EntryLocation::Kind begin(const Dwarf_Op& operation, Place& place) {
        using enum EntryLocation::Kind;
        if (operation.atom >= DW_OP_breg0 && operation.atom <= DW_OP_breg31)
            return relative(operation.atom - DW_OP_breg0, static_cast<int64_t>(operation.number),
                            place);
        switch (operation.atom) {
        case DW_OP_bregx:
            return relative(operation.number, static_cast<int64_t>(operation.number2), place);
        case DW_OP_call_frame_cfa:
            place.base = WIRE_BASE_CFA;
            return known;
        case DW_OP_fbreg:
            if (!frame_base(place))
                return unsaid;
            return __builtin_add_overflow(place.offsets[0], static_cast<int64_t>(operation.number),
                                          &place.offsets[0])
                       ? unsaid
                       : known;
        case DW_OP_entry_value:
        case DW_OP_GNU_entry_value: {
            Dwarf_Attribute inner;
            Dwarf_Op* operations;
            size_t count;
            if (dwarf_getlocation_attr(&attribute_, &operation, &inner) != 0 ||
                dwarf_getlocation(&inner, &operations, &count) != 0 || count != 1)
                return unsaid;
            const auto number = plain_register(operations[0]);
            if (!number || *number >= registers)
                return unsaid;
            place.number = static_cast<uint8_t>(*number);
            return known;
        }
        default:
            // A constant that it always has, or a part of something else.
            return gone;
        }
    }

    EntryLocation::Kind relative(uint64_t number, int64_t offset, Place& place) {
        // The frame pointer is the caller's still.
        if (number >= registers || number == register_frame)
            return EntryLocation::Kind::unsaid;
        if (number == register_stack) {
            place.base = WIRE_BASE_CFA;
            offset = offset < INT64_MIN + return_address ? INT64_MIN : offset - return_address;
        } else {
            place.number = static_cast<uint8_t>(number);
        }
        place.offsets[0] = offset;
        return EntryLocation::Kind::known;
    }

    bool frame_base(Place& place) {
        Dwarf_Attribute attribute;
        if (!dwarf_attr_integrate(&function_, DW_AT_frame_base, &attribute))
            return false;
        const auto operations = operations_at(attribute, entry_);
        if (!operations || operations->size() != 1)
            return false;
        const Dwarf_Op& operation = (*operations)[0];
        place.base = WIRE_BASE_CFA;
        if (operation.atom == DW_OP_call_frame_cfa)
            return true;
        place.offsets[0] = static_cast<int64_t>(operation.number) - return_address;
        return operation.atom == DW_OP_breg7 && // the stack pointer
               static_cast<int64_t>(
                   operation.number)<INT32_MAX&& static_cast<int64_t>(operation.number)>
                   INT32_MIN;
    }

    Dwarf_Attribute& attribute_;
    Dwarf_Die function_;
    uint64_t entry_;
};

} // namespace

EntryLocation location_at_entry(Dwarf_Die parameter, const ValueType& type, Dwarf_Die function,
                                uint64_t entry) {
    Dwarf_Attribute attribute;
    if (!dwarf_attr(&parameter, DW_AT_location, &attribute))
        return {dwarf_hasattr(&parameter, DW_AT_const_value) ? EntryLocation::Kind::gone
                                                             : EntryLocation::Kind::unsaid,
                {}};
    const auto operations = operations_at(attribute, entry);
    if (!operations)
        return {};
    return Evaluation(attribute, function, entry).whole(*operations, type);
}

} // namespace auger
