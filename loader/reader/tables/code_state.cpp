// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/code_state.h"

namespace auger {
namespace {

using Effect = StackEffect::Kind;
using Register = StackEffect::Register;

} // namespace

wire_unwind_rule CodeState::rule() const {
    FrameState state;
    if (outermost)
        return wire_rule(WIRE_CFA_END);
    // By the frame pointer when it is one, as compilers do, and not just a pointer to
    // something in the frame.
    if (frame_known && (frame == 16 || !stack_known))
        state.cfa = {true, {FrameValue::Kind::address, register_frame, frame, 0}};
    else if (stack_known && stack >= 8) // else its return address is gone
        state.cfa = {true, {FrameValue::Kind::address, register_stack, stack, 0}};
    else
        return wire_rule(WIRE_CFA_NONE);
    state.rbx = rbx;
    state.rbp = rbp;
    state.return_address = {RegisterRule::Kind::at, register_cfa, -8};
    return wire_rule(state);
}

RegisterRule* CodeState::rule_of(Register name) {
    return name == Register::rbx ? &rbx : name == Register::rbp ? &rbp : nullptr;
}

// It is saved once: what is stored later is not the caller's value.
void CodeState::save(Register name, int64_t below_cfa) {
    RegisterRule* rule = rule_of(name);
    if (rule && rule->kind == RegisterRule::Kind::same)
        *rule = {RegisterRule::Kind::at, register_cfa, -below_cfa};
}

void CodeState::restore(Register name, int64_t below_cfa) {
    if (name == Register::rbp)
        frame_known = false;
    RegisterRule* rule = rule_of(name);
    if (!rule)
        return;
    if (rule->kind == RegisterRule::Kind::at && rule->offset == -below_cfa)
        *rule = {};
    else if (rule->kind == RegisterRule::Kind::same)
        *rule = {RegisterRule::Kind::undefined, 0, 0};
}

void CodeState::overwrite(const StackEffect& effect) {
    if (effect.writes_rbx && rbx.kind == RegisterRule::Kind::same)
        rbx = {RegisterRule::Kind::undefined, 0, 0};
    if (!effect.writes_rbp)
        return;
    frame_known = false;
    if (rbp.kind != RegisterRule::Kind::same)
        return;
    outermost |= effect.zeroes_rbp;
    rbp = {RegisterRule::Kind::undefined, 0, 0};
}

void CodeState::apply(const StackEffect& effect) {
    // Of memory at rsp or rbp.
    const bool by_frame = effect.base == Register::rbp;
    const bool known = by_frame ? frame_known : stack_known;
    const int64_t below_cfa = (by_frame ? frame : stack) - effect.amount;
    switch (effect.kind) {
    case Effect::none:
        break;
    case Effect::add:
        stack -= effect.amount;
        break;
    case Effect::push:
        stack += 8;
        if (stack_known)
            save(effect.saved, stack);
        break;
    case Effect::pop:
        restore(effect.saved, stack_known ? stack : 0);
        stack -= 8;
        if (stack < 8) // the return address, which may be pushed anew elsewhere
            stack_known = false;
        break;
    case Effect::store:
        if (known)
            save(effect.saved, below_cfa);
        break;
    case Effect::load:
        restore(effect.saved, known ? below_cfa : 0);
        break;
    case Effect::set_frame:
        // Only when the caller's is safe; else rbp is used for something else.
        frame_known = stack_known && rbp.kind == RegisterRule::Kind::at;
        frame = stack - effect.amount;
        break;
    case Effect::from_frame:
        stack_known = frame_known;
        stack = frame - effect.amount;
        break;
    case Effect::leave:
        stack_known = frame_known;
        stack = frame;
        restore(Register::rbp, stack);
        stack -= 8;
        break;
    case Effect::unknown:
        stack_known = false;
        break;
    }
    overwrite(effect);
    // Its return address was taken away, or it is larger than any honest frame.
    if (stack < 0 || stack > 1 << 30)
        stack_known = false;
    if (!stack_known)
        stack = 0;
}

} // namespace auger
