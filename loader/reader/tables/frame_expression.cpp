// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/frame_expression.h"

#include <dwarf.h>

#include <array>
#include <utility>

namespace auger {
namespace {

using Kind = FrameValue::Kind;

// Sums wrap, as the machine's do.
int64_t sum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

FrameValue constant(uint64_t value) {
    return {Kind::constant, 0, static_cast<int64_t>(value), 0};
}

std::optional<FrameValue> plus(FrameValue a, FrameValue b) {
    if (a.kind == Kind::constant)
        std::swap(a, b);
    if (b.kind == Kind::constant) {
        switch (a.kind) {
        case Kind::constant:
        case Kind::address:
        case Kind::plt:
            a.offset = sum(a.offset, b.offset);
            return a;
        case Kind::memory:
            a.addend = sum(a.addend, b.offset);
            return a;
        default:
            return std::nullopt;
        }
    }
    if (a.kind == Kind::code_slot)
        std::swap(a, b);
    if (a.kind == Kind::address && b.kind == Kind::code_slot)
        return FrameValue{Kind::plt, a.base, a.offset, b.addend};
    return std::nullopt;
}

// `a op b`, where b was pushed last.
std::optional<FrameValue> binary(uint8_t operation, const FrameValue& a, const FrameValue& b) {
    const bool by_constant = b.kind == Kind::constant;
    switch (operation) {
    case DW_OP_plus:
        return plus(a, b);
    case DW_OP_minus:
        if (by_constant)
            return plus(a, constant(-static_cast<uint64_t>(b.offset)));
        break;
    case DW_OP_and:
        if (by_constant && b.offset == 15 && a.kind == Kind::address && a.base == register_code &&
            a.offset == 0)
            return FrameValue{Kind::code_bits, 0, 0, 0};
        break;
    case DW_OP_ge:
        if (by_constant && a.kind == Kind::code_bits && b.offset >= 0 && b.offset <= 16)
            return FrameValue{Kind::code_reached, 0, 0, b.offset};
        break;
    case DW_OP_shl:
        if (by_constant && a.kind == Kind::code_reached && b.offset == 3)
            return FrameValue{Kind::code_slot, 0, 0, a.addend};
        break;
    }
    return std::nullopt;
}

template <typename Signed>
FrameValue signed_constant(ByteCursor& cursor) {
    return constant(static_cast<uint64_t>(int64_t{cursor.number<Signed>()}));
}

std::optional<FrameValue> based(uint64_t base, int64_t offset) {
    if (base > register_last)
        return std::nullopt;
    return FrameValue{Kind::address, static_cast<uint8_t>(base), offset, 0};
}

// What an operation without operands on the stack pushes.
std::optional<FrameValue> pushed(uint8_t operation, ByteCursor& cursor) {
    if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31)
        return constant(operation - DW_OP_lit0);
    if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31)
        return based(operation - DW_OP_breg0, cursor.sleb());
    switch (operation) {
    case DW_OP_const1u:
        return constant(cursor.byte());
    case DW_OP_const1s:
        return signed_constant<int8_t>(cursor);
    case DW_OP_const2u:
        return constant(cursor.number<uint16_t>());
    case DW_OP_const2s:
        return signed_constant<int16_t>(cursor);
    case DW_OP_const4u:
        return constant(cursor.number<uint32_t>());
    case DW_OP_const4s:
        return signed_constant<int32_t>(cursor);
    case DW_OP_const8u:
    case DW_OP_const8s:
        return constant(cursor.number<uint64_t>());
    case DW_OP_constu:
        return constant(cursor.uleb());
    case DW_OP_consts:
        return constant(static_cast<uint64_t>(cursor.sleb()));
    case DW_OP_bregx: {
        const uint64_t base = cursor.uleb();
        return based(base, cursor.sleb());
    }
    }
    return std::nullopt;
}

class ValueStack {
  public:
    bool push(const std::optional<FrameValue>& value) {
        if (!value || depth_ == values_.size())
            return false;
        values_[depth_++] = *value;
        return true;
    }
    std::optional<FrameValue> pop() {
        if (depth_ == 0)
            return std::nullopt;
        return values_[--depth_];
    }

  private:
    std::array<FrameValue, 8> values_;
    size_t depth_ = 0;
};

bool execute(uint8_t operation, ByteCursor& cursor, ValueStack& stack) {
    switch (operation) {
    case DW_OP_nop:
        return true;
    case DW_OP_plus_uconst: {
        const auto value = stack.pop();
        return value && stack.push(plus(*value, constant(cursor.uleb())));
    }
    case DW_OP_deref: {
        const auto value = stack.pop();
        return value && value->kind == Kind::address &&
               stack.push(FrameValue{Kind::memory, value->base, value->offset, 0});
    }
    case DW_OP_plus:
    case DW_OP_minus:
    case DW_OP_and:
    case DW_OP_ge:
    case DW_OP_shl: {
        const auto b = stack.pop();
        const auto a = stack.pop();
        return a && b && stack.push(binary(operation, *a, *b));
    }
    default:
        return stack.push(pushed(operation, cursor));
    }
}

} // namespace

std::optional<FrameValue> frame_value(Bytes expression, bool begins_with_cfa) {
    ValueStack stack;
    if (begins_with_cfa)
        stack.push(FrameValue{Kind::address, register_cfa, 0, 0});
    ByteCursor cursor(expression);
    while (!cursor.at_end())
        if (!execute(cursor.byte(), cursor, stack) || cursor.failed())
            return std::nullopt;
    return stack.pop();
}

} // namespace auger
