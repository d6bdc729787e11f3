// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/frame_state.h"

#include <limits>

namespace auger {
namespace {

template <typename Number>
bool fits(int64_t value) {
    return value >= std::numeric_limits<Number>::min() &&
           value <= std::numeric_limits<Number>::max();
}

struct Saved {
    wire_saved_kind kind;
    int16_t offset; // in words
};

// Memory at a register that the CFA is counted from is memory at the CFA.
Saved saved(const RegisterRule& rule, const CfaRule& cfa) {
    if (rule.kind == RegisterRule::Kind::same)
        return {WIRE_SAVED_NOT, 0};
    if (rule.kind != RegisterRule::Kind::at)
        return {WIRE_SAVED_LOST, 0};
    int64_t offset = rule.offset;
    wire_saved_kind kind = WIRE_SAVED_AT_CFA;
    if (rule.base != register_cfa) {
        if (cfa.value.kind == FrameValue::Kind::address && cfa.value.base == rule.base) {
            if (__builtin_sub_overflow(offset, cfa.value.offset, &offset))
                return {WIRE_SAVED_LOST, 0};
        } else if (rule.base == register_frame) {
            kind = WIRE_SAVED_AT_RBP;
        } else {
            return {WIRE_SAVED_LOST, 0};
        }
    }
    if (offset % 8 != 0 || !fits<int16_t>(offset / 8))
        return {WIRE_SAVED_LOST, 0};
    return {kind, static_cast<int16_t>(offset / 8)};
}

// False when the format has no such CFA.
bool set_cfa(wire_unwind_rule& wire, const CfaRule& cfa) {
    const FrameValue& value = cfa.value;
    if (!cfa.known || value.base > 15 || !fits<int32_t>(value.offset) ||
        !fits<int16_t>(value.addend))
        return false;
    switch (value.kind) {
    case FrameValue::Kind::address:
        wire.cfa = WIRE_CFA_REGISTER;
        break;
    case FrameValue::Kind::memory:
        wire.cfa = WIRE_CFA_MEMORY;
        break;
    case FrameValue::Kind::plt:
        wire.cfa = WIRE_CFA_PLT;
        break;
    default:
        return false;
    }
    wire.cfa_register = value.base;
    wire.offset = static_cast<int32_t>(value.offset);
    wire.addend = static_cast<int16_t>(value.addend);
    return true;
}

bool set_return(wire_unwind_rule& wire, const RegisterRule& rule, const CfaRule& cfa) {
    if (rule.kind == RegisterRule::Kind::in_register && rule.base <= 15) {
        wire.return_kind = WIRE_RETURN_REGISTER;
        wire.return_register = rule.base;
        return true;
    }
    const Saved place = saved(rule, cfa);
    return place.kind == WIRE_SAVED_AT_CFA && place.offset == -1;
}

} // namespace

wire_unwind_rule wire_rule(wire_cfa_kind kind) {
    wire_unwind_rule wire{};
    wire.cfa = kind;
    return wire;
}

wire_unwind_rule wire_rule(const FrameState& state) {
    if (state.return_address.kind == RegisterRule::Kind::undefined)
        return wire_rule(WIRE_CFA_END);
    wire_unwind_rule wire{};
    // The caller's stack pointer is the CFA: this is what a CFA is, and rules that say otherwise
    // (longjmp) are not of calls.
    if (state.rsp.kind != RegisterRule::Kind::same || !set_cfa(wire, state.cfa) ||
        !set_return(wire, state.return_address, state.cfa))
        return wire_rule(WIRE_CFA_UNSUPPORTED);
    const Saved rbp = saved(state.rbp, state.cfa);
    wire.rbp_saved = rbp.kind;
    wire.rbp_offset = rbp.offset;
    const Saved rbx = saved(state.rbx, state.cfa);
    wire.rbx_saved = rbx.kind;
    wire.rbx_offset = rbx.offset;
    return wire;
}

} // namespace auger
