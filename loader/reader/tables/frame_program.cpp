// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/frame_program.h"

#include <dwarf.h>

namespace auger {
namespace {

constexpr uint8_t primary_mask = 0xc0;
constexpr uint8_t advance_loc8 = 0x1d; // DW_CFA_MIPS_advance_loc8

} // namespace

bool FrameProgram::next(FrameRow& row) {
    if (done_)
        return false;
    row.address = location_;
    while (!cursor_.at_end()) {
        const Step step = execute();
        if (step == Step::broken || cursor_.failed()) {
            broken_ = done_ = true;
            row.rule = wire_rule(WIRE_CFA_UNSUPPORTED);
            return true;
        }
        if (step != Step::moved || location_ == row.address)
            continue;
        // Nothing before the move looked ahead of it, so the state is still that of the row.
        done_ = location_ >= end_;
        row.rule = wire_rule(state_);
        return true;
    }
    done_ = true;
    row.rule = wire_rule(state_);
    return true;
}

std::optional<FrameState> FrameProgram::initial_state(const FrameEncoding& encoding,
                                                      Bytes instructions) {
    static const FrameState nothing;
    FrameProgram program(encoding, nothing, instructions, 0, 0, 1);
    while (!program.cursor_.at_end())
        if (program.execute() != Step::state || program.cursor_.failed())
            return std::nullopt;
    return program.state_;
}

FrameProgram::Step FrameProgram::execute() {
    const uint8_t instruction = cursor_.byte();
    const uint8_t operand = instruction & static_cast<uint8_t>(~primary_mask);
    switch (instruction & primary_mask) {
    case DW_CFA_advance_loc:
        return advance(operand);
    case DW_CFA_offset:
        return set_at_cfa(operand, cursor_.uleb());
    case DW_CFA_restore:
        return restore(operand);
    }
    return extended(instruction);
}

FrameProgram::Step FrameProgram::extended(uint8_t instruction) {
    switch (instruction) {
    case DW_CFA_nop:
        return Step::state;
    case DW_CFA_set_loc: {
        const auto to = read_pointer(cursor_, encoding_.pointer_encoding, encoding_.bases, offset_);
        return to ? move_to(*to) : Step::broken;
    }
    case DW_CFA_advance_loc1:
        return advance(cursor_.byte());
    case DW_CFA_advance_loc2:
        return advance(cursor_.number<uint16_t>());
    case DW_CFA_advance_loc4:
        return advance(cursor_.number<uint32_t>());
    case advance_loc8:
        return advance(cursor_.number<uint64_t>());
    case DW_CFA_offset_extended: {
        const uint64_t column = cursor_.uleb();
        return set_at_cfa(column, cursor_.uleb());
    }
    case DW_CFA_offset_extended_sf: {
        const uint64_t column = cursor_.uleb();
        return set_at_cfa(column, static_cast<uint64_t>(cursor_.sleb()));
    }
    case DW_CFA_GNU_negative_offset_extended: {
        const uint64_t column = cursor_.uleb();
        return set_at_cfa(column, -cursor_.uleb());
    }
    case DW_CFA_restore_extended:
        return restore(cursor_.uleb());
    case DW_CFA_undefined:
        return set_rule(cursor_.uleb(), {RegisterRule::Kind::undefined, 0, 0});
    case DW_CFA_same_value:
        return set_rule(cursor_.uleb(), {});
    case DW_CFA_register: {
        const uint64_t column = cursor_.uleb();
        return set_register(column, cursor_.uleb());
    }
    case DW_CFA_remember_state:
        if (remembered_ == memory_.size())
            return Step::broken;
        memory_[remembered_++] = state_;
        return Step::state;
    case DW_CFA_restore_state:
        if (remembered_ == 0)
            return Step::broken;
        state_ = memory_[--remembered_];
        return Step::state;
    case DW_CFA_def_cfa: {
        const uint64_t base = cursor_.uleb();
        return define_cfa(base, static_cast<int64_t>(cursor_.uleb()));
    }
    case DW_CFA_def_cfa_sf: {
        const uint64_t base = cursor_.uleb();
        return define_cfa(base, scaled(static_cast<uint64_t>(cursor_.sleb())));
    }
    case DW_CFA_def_cfa_register:
        return define_cfa_register(cursor_.uleb());
    case DW_CFA_def_cfa_offset:
        return define_cfa_offset(static_cast<int64_t>(cursor_.uleb()));
    case DW_CFA_def_cfa_offset_sf:
        return define_cfa_offset(scaled(static_cast<uint64_t>(cursor_.sleb())));
    case DW_CFA_def_cfa_expression:
        return define_cfa_expression();
    case DW_CFA_expression:
        return set_expression(cursor_.uleb());
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf: {
        // A value that is no place in memory: of the stack pointer it may be what a CFA is.
        const uint64_t column = cursor_.uleb();
        const uint64_t units = cursor_.uleb();
        if (column == register_stack && units == 0)
            return set_rule(column, {});
        return set_rule(column, {RegisterRule::Kind::other, 0, 0});
    }
    case DW_CFA_val_expression: {
        const uint64_t column = cursor_.uleb();
        cursor_.take(cursor_.uleb());
        return set_rule(column, {RegisterRule::Kind::other, 0, 0});
    }
    case DW_CFA_GNU_args_size:
        cursor_.uleb();
        return Step::state;
    }
    return Step::broken;
}

FrameProgram::Step FrameProgram::advance(uint64_t units) {
    uint64_t distance, to;
    if (__builtin_mul_overflow(units, encoding_.code_alignment, &distance) ||
        __builtin_add_overflow(location_, distance, &to))
        return Step::broken;
    return move_to(to);
}

FrameProgram::Step FrameProgram::move_to(uint64_t location) {
    if (location < location_)
        return Step::broken;
    location_ = location;
    return Step::moved;
}

FrameProgram::Step FrameProgram::restore(uint64_t column) {
    const RegisterRule* rule = initial_.column(column);
    return rule ? set_rule(column, *rule) : Step::state;
}

FrameProgram::Step FrameProgram::define_cfa(uint64_t base, int64_t offset) {
    state_.cfa = {base < register_cfa,
                  {FrameValue::Kind::address, static_cast<uint8_t>(base), offset, 0}};
    return Step::state;
}

// After an expression these two mean nothing.
FrameProgram::Step FrameProgram::define_cfa_offset(int64_t offset) {
    if (state_.cfa.value.kind != FrameValue::Kind::address)
        return Step::broken;
    state_.cfa.value.offset = offset;
    return Step::state;
}

FrameProgram::Step FrameProgram::define_cfa_register(uint64_t base) {
    if (state_.cfa.value.kind != FrameValue::Kind::address)
        return Step::broken;
    return define_cfa(base, state_.cfa.value.offset);
}

FrameProgram::Step FrameProgram::define_cfa_expression() {
    const auto value = frame_value(cursor_.take(cursor_.uleb()), false);
    state_.cfa = {value.has_value(), value.value_or(FrameValue{})};
    return Step::state;
}

FrameProgram::Step FrameProgram::set_rule(uint64_t column, const RegisterRule& rule) {
    if (RegisterRule* of = state_.column(column))
        *of = rule;
    return Step::state;
}

FrameProgram::Step FrameProgram::set_at_cfa(uint64_t column, uint64_t units) {
    return set_rule(column, {RegisterRule::Kind::at, register_cfa, scaled(units)});
}

FrameProgram::Step FrameProgram::set_expression(uint64_t column) {
    const Bytes expression = cursor_.take(cursor_.uleb());
    RegisterRule* rule = state_.column(column);
    if (!rule)
        return Step::state;
    const auto value = frame_value(expression, true);
    if (value && value->kind == FrameValue::Kind::address)
        *rule = {RegisterRule::Kind::at, value->base, value->offset};
    else
        *rule = {RegisterRule::Kind::other, 0, 0};
    return Step::state;
}

FrameProgram::Step FrameProgram::set_register(uint64_t column, uint64_t source) {
    if (source == column)
        return set_rule(column, {});
    if (source > register_last)
        return set_rule(column, {RegisterRule::Kind::other, 0, 0});
    return set_rule(column, {RegisterRule::Kind::in_register, static_cast<uint8_t>(source), 0});
}

} // namespace auger
