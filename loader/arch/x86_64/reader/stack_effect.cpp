// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/code/stack_effect.h"

#include "loader/arch/x86_64/reader/decoded_instruction.h"

namespace auger {
namespace {

using Effect = StackEffect::Kind;
using Register = StackEffect::Register;

Register enclosing(ZydisRegister name) {
    switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name)) {
    case ZYDIS_REGISTER_RBX:
        return Register::rbx;
    case ZYDIS_REGISTER_RBP:
        return Register::rbp;
    case ZYDIS_REGISTER_RSP:
        return Register::rsp;
    default:
        return Register::none;
    }
}

struct DecodedOperands : DecodedInstruction {
    bool is_register(size_t i, ZydisRegister name) const {
        return operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[i].reg.value == name;
    }
    // A 64-bit register among those that are followed.
    Register followed(size_t i) const {
        if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER || operands[i].size != 64)
            return Register::none;
        return enclosing(operands[i].reg.value);
    }
    // Memory at rsp or rbp and a constant.
    Register frame_memory(size_t i, int64_t& displacement) const {
        const ZydisDecodedOperand& operand = operands[i];
        if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.index != ZYDIS_REGISTER_NONE ||
            (operand.mem.base != ZYDIS_REGISTER_RSP && operand.mem.base != ZYDIS_REGISTER_RBP))
            return Register::none;
        displacement = operand.mem.disp.has_displacement ? operand.mem.disp.value : 0;
        return enclosing(operand.mem.base);
    }
};

StackEffect of_lea(const DecodedOperands& decoded, uint64_t address) {
    StackEffect effect;
    const ZydisDecodedOperand& memory = decoded.operands[1];
    if (memory.mem.base == ZYDIS_REGISTER_RIP)
        effect.code_pointer =
            address + decoded.instruction.length + static_cast<uint64_t>(memory.mem.disp.value);
    const Register from = decoded.frame_memory(1, effect.amount);
    const Register to = decoded.followed(0);
    if (to == Register::rsp)
        effect.kind = from == Register::rsp   ? Effect::add
                      : from == Register::rbp ? Effect::from_frame
                                              : Effect::unknown;
    else if (to == Register::rbp && from == Register::rsp)
        effect.kind = Effect::set_frame;
    return effect;
}

StackEffect of_mov(const DecodedOperands& decoded) {
    StackEffect effect;
    const Register to = decoded.followed(0), from = decoded.followed(1);
    if (to == Register::rbp && from == Register::rsp) {
        effect.kind = Effect::set_frame;
    } else if (to == Register::rsp) {
        effect.kind = from == Register::rbp ? Effect::from_frame : Effect::unknown;
    } else if (from == Register::rbx || from == Register::rbp) {
        effect.base = decoded.frame_memory(0, effect.amount);
        if (effect.base != Register::none) {
            effect.kind = Effect::store;
            effect.saved = from;
        }
    } else if (to == Register::rbx || to == Register::rbp) {
        effect.base = decoded.frame_memory(1, effect.amount);
        if (effect.base != Register::none) {
            effect.kind = Effect::load;
            effect.saved = to;
        }
    }
    return effect;
}

StackEffect of_kind(const DecodedOperands& decoded, uint64_t address) {
    StackEffect effect;
    const ZydisDecodedOperand& last = decoded.operands[1];
    switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
        if (decoded.instruction.operand_width != 64)
            return {.kind = Effect::unknown};
        effect.kind = Effect::push;
        effect.saved = decoded.followed(0);
        return effect;
    case ZYDIS_MNEMONIC_POP:
        if (decoded.instruction.operand_width != 64 || decoded.followed(0) == Register::rsp)
            return {.kind = Effect::unknown};
        effect.kind = Effect::pop;
        effect.saved = decoded.followed(0);
        return effect;
    case ZYDIS_MNEMONIC_PUSHFQ:
        return {.kind = Effect::push};
    case ZYDIS_MNEMONIC_POPFQ:
        return {.kind = Effect::pop};
    case ZYDIS_MNEMONIC_LEAVE:
        return {.kind = Effect::leave};
    case ZYDIS_MNEMONIC_LEA:
        return of_lea(decoded, address);
    case ZYDIS_MNEMONIC_MOV:
        return of_mov(decoded);
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        if (decoded.is_register(0, ZYDIS_REGISTER_RSP) && last.type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            return {.kind = Effect::add,
                    .amount = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_ADD
                                  ? last.imm.value.s
                                  : -last.imm.value.s};
        return effect;
    case ZYDIS_MNEMONIC_XOR:
        effect.zeroes_rbp = last.type == ZYDIS_OPERAND_TYPE_REGISTER &&
                            decoded.is_register(0, last.reg.value) &&
                            enclosing(last.reg.value) == Register::rbp;
        return effect;
    case ZYDIS_MNEMONIC_CALL:
    case ZYDIS_MNEMONIC_RET:
    default:
        return effect;
    }
}

bool told(const StackEffect& effect, Register name) {
    const bool gets = effect.kind == Effect::pop || effect.kind == Effect::load;
    return (gets && effect.saved == name) ||
           (name == Register::rbp &&
            (effect.kind == Effect::set_frame || effect.kind == Effect::leave));
}

} // namespace

StackEffect stack_effect(std::span<const std::byte> bytes, uint64_t address) {
    DecodedOperands decoded;
    if (!decode_operands(bytes, decoded))
        return {.kind = Effect::unknown};
    StackEffect effect = of_kind(decoded, address);
    const bool calls = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_CALL ||
                       decoded.instruction.mnemonic == ZYDIS_MNEMONIC_RET;
    for (size_t i = 0; i < decoded.instruction.operand_count; ++i) {
        const ZydisDecodedOperand& operand = decoded.operands[i];
        if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER ||
            !(operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        const Register written = enclosing(operand.reg.value);
        if (written == Register::rsp && effect.kind == Effect::none && !calls)
            effect.kind = Effect::unknown;
        effect.writes_rbx |= written == Register::rbx && !told(effect, Register::rbx);
        effect.writes_rbp |= written == Register::rbp && !told(effect, Register::rbp);
    }
    return effect;
}

} // namespace auger
