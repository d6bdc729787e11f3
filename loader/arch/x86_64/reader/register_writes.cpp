// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/code/register_writes.h"

#include "loader/arch/x86_64/reader/decoded_instruction.h"
#include "loader/reader/code/value_move.h"

#include <Zydis/Zydis.h>

#include <array>

namespace auger {
namespace {

using Stack = RegisterWrites::Stack;
using Flow = Instruction::Flow;

constexpr int no_number = -1;

ZydisDecoder make_minimal_decoder() {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecoderEnableMode(&made, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
    return made;
}

// Of any part of the register: a write to 32 bits of rsp changes it as well.
int number_of(ZydisRegister name) {
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    return whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15 ? no_number
                                                                    : whole - ZYDIS_REGISTER_RAX;
}

struct Decoded : DecodedInstruction {
    // A visible operand that is a whole register.
    int whole_register(size_t i) const {
        const ZydisDecodedOperand& operand = operands[i];
        if (i >= instruction.operand_count_visible || operand.type != ZYDIS_OPERAND_TYPE_REGISTER ||
            operand.size != 64)
            return no_number;
        return number_of(operand.reg.value);
    }
    bool immediate(size_t i) const {
        return i < instruction.operand_count_visible &&
               operands[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    }
    // The base of an address that is one register and a constant.
    int plain_base(size_t i) const {
        const ZydisDecodedOperand& operand = operands[i];
        if (i >= instruction.operand_count_visible || operand.type != ZYDIS_OPERAND_TYPE_MEMORY ||
            operand.mem.index != ZYDIS_REGISTER_NONE || instruction.address_width != 64)
            return no_number;
        return number_of(operand.mem.base);
    }
};

bool moves_stack_by_itself(const ZydisDecodedInstruction& instruction) {
    switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
        return true;
    case ZYDIS_MNEMONIC_CALL:
    case ZYDIS_MNEMONIC_RET:
        return instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR;
    default:
        return false;
    }
}

Flow next_of(const ZydisDecodedInstruction& instruction) {
    switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_RET:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_SYSRET:
        return Flow::ret;
    case ZYDIS_MNEMONIC_JMP:
        return Flow::jump;
    case ZYDIS_MNEMONIC_CALL:
        return Flow::call;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
        return Flow::stop;
    default:
        return instruction.meta.category == ZYDIS_CATEGORY_COND_BR ? Flow::conditional : Flow::next;
    }
}

// Where one register plus a constant goes to another, or stays.
void read_copy(const Decoded& decoded, RegisterWrites& writes) {
    const int to = decoded.whole_register(0);
    int from = no_number;
    switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        from = decoded.whole_register(1);
        break;
    case ZYDIS_MNEMONIC_LEA:
        from = decoded.plain_base(1);
        break;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        from = decoded.immediate(1) ? to : no_number;
        break;
    case ZYDIS_MNEMONIC_AND: // to an alignment
        from = decoded.immediate(1) && decoded.operands[1].imm.value.s < 0 ? to : no_number;
        break;
    default:
        break;
    }
    writes.copies = to != no_number && from != no_number;
    if (writes.copies) {
        writes.copy_to = static_cast<uint8_t>(to);
        writes.copy_from = static_cast<uint8_t>(from);
    }
}

Stack stack_write(const Decoded& decoded, RegisterWrites& writes, bool visible_write) {
    if (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE) {
        writes.source = number_rbp;
        return Stack::copied;
    }
    if (writes.copies && writes.copy_to == number_rsp) {
        writes.source = writes.copy_from;
        return writes.copy_from == number_rsp ? Stack::moved : Stack::copied;
    }
    // Of push and pop the operand may be the stack pointer itself: `pop %rsp` is no pop.
    return moves_stack_by_itself(decoded.instruction) && !visible_write ? Stack::moved
                                                                        : Stack::other;
}

// The immediate number of a system call, as it is put into eax.
std::optional<uint32_t> value_of_eax(const Decoded& decoded) {
    const ZydisDecodedOperand* operands = decoded.operands.data();
    if (decoded.instruction.operand_count_visible != 2 ||
        operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER || operands[0].size < 32 ||
        number_of(operands[0].reg.value) != number_rax)
        return std::nullopt;
    if (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOV && decoded.immediate(1))
        return static_cast<uint32_t>(operands[1].imm.value.u);
    if (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_XOR &&
        operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        operands[0].reg.value == operands[1].reg.value)
        return 0;
    return std::nullopt;
}

// Where it is in memory, and how many bytes. False: that is not one register, another one and a
// constant, but of another segment, or relative to the instruction.
bool read_place(const Decoded& decoded, size_t i, ValueMove& move) {
    const ZydisDecodedOperand& operand = decoded.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || decoded.instruction.address_width != 64 ||
        operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS)
        return false;
    const int base = number_of(operand.mem.base);
    if (base == no_number)
        return false;
    move.base = static_cast<uint8_t>(base);
    if (operand.mem.index != ZYDIS_REGISTER_NONE) {
        const int index = number_of(operand.mem.index);
        if (index == no_number)
            return false;
        move.index = static_cast<uint8_t>(index);
        move.scale = operand.mem.scale;
    }
    move.amount = operand.mem.disp.value;
    move.bytes = static_cast<uint8_t>(operand.size / 8);
    return true;
}

// A register of 32 or 64 bits.
bool read_register(const Decoded& decoded, size_t i, ValueMove& move, uint8_t& number) {
    const ZydisDecodedOperand& operand = decoded.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || (operand.size != 32 && operand.size != 64))
        return false;
    const int found = number_of(operand.reg.value);
    if (found == no_number)
        return false;
    number = static_cast<uint8_t>(found);
    move.bytes = static_cast<uint8_t>(operand.size / 8);
    return true;
}

bool read_addition(const Decoded& decoded, ValueMove& move) {
    const ZydisMnemonic name = decoded.instruction.mnemonic;
    const bool by_one = name == ZYDIS_MNEMONIC_INC || name == ZYDIS_MNEMONIC_DEC;
    if (!read_register(decoded, 0, move, move.number) || (!by_one && !decoded.immediate(1)))
        return false;
    const int64_t amount = by_one ? 1 : decoded.operands[1].imm.value.s;
    const bool down = name == ZYDIS_MNEMONIC_SUB || name == ZYDIS_MNEMONIC_DEC;
    move.amount = down ? static_cast<int64_t>(-static_cast<uint64_t>(amount)) : amount;
    move.base = move.number;
    move.kind = ValueMove::Kind::copy;
    return true;
}

bool read_move(const Decoded& decoded, ValueMove& move) {
    using Kind = ValueMove::Kind;
    const ZydisDecodedOperand* operands = decoded.operands.data();
    if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
        move.kind = Kind::store;
        const bool of_register = read_register(decoded, 1, move, move.number);
        const uint8_t bytes = move.bytes;
        if (!read_place(decoded, 0, move))
            return false;
        if (!of_register || move.bytes != bytes)
            move.number = no_register_number;
        return true;
    }
    if (!read_register(decoded, 0, move, move.number))
        return false;
    if (operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
        move.kind = Kind::load;
        return read_place(decoded, 1, move);
    }
    move.kind = Kind::copy;
    return read_register(decoded, 1, move, move.base);
}

bool read_value_move(const Decoded& decoded, ValueMove& move) {
    switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVSXD:
        return read_move(decoded, move);
    case ZYDIS_MNEMONIC_LEA: {
        if (!read_register(decoded, 0, move, move.number))
            return false;
        const uint8_t bytes = move.bytes;
        move.kind = ValueMove::Kind::copy;
        const bool plain = read_place(decoded, 1, move) && move.index == no_register_number;
        move.bytes = bytes;
        return plain;
    }
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        return read_addition(decoded, move);
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_POP:
        move.kind = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_PUSH ? ValueMove::Kind::push
                                                                        : ValueMove::Kind::pop;
        return read_register(decoded, 0, move, move.number);
    case ZYDIS_MNEMONIC_LEAVE:
        move.kind = ValueMove::Kind::leave;
        return true;
    case ZYDIS_MNEMONIC_JMP:
        move.kind = ValueMove::Kind::jump;
        return read_register(decoded, 0, move, move.number);
    case ZYDIS_MNEMONIC_INT3:
        move.kind = ValueMove::Kind::stop;
        return true;
    default:
        return false;
    }
}

// Whatever it is that the instruction writes there.
bool read_memory_write(const Decoded& decoded, ValueMove& move) {
    for (size_t i = 0; i < decoded.instruction.operand_count_visible; ++i)
        if ((decoded.operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
            read_place(decoded, i, move)) {
            move.kind = ValueMove::Kind::store;
            return true;
        }
    return false;
}

bool is_other_gate(const ZydisDecodedInstruction& instruction) {
    return instruction.mnemonic == ZYDIS_MNEMONIC_SYSENTER ||
           instruction.mnemonic == ZYDIS_MNEMONIC_INT;
}

bool names_rsp(const ZydisDecodedInstruction& instruction) {
    if (!(instruction.attributes & ZYDIS_ATTRIB_HAS_MODRM))
        return false;
    // With VEX and the like, what their prefixes add is not looked at: that is r12, or one more
    // close look.
    const bool legacy = instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    const auto& rex = instruction.raw.rex;
    const auto& modrm = instruction.raw.modrm;
    return (modrm.reg == number_rsp && !(legacy && rex.R)) ||
           (modrm.mod == 3 && modrm.rm == number_rsp && !(legacy && rex.B));
}

bool suspicious(const ZydisDecodedInstruction& instruction) {
    if (names_rsp(instruction))
        return true;
    const uint8_t opcode = instruction.opcode;
    if (instruction.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        // Those that have their result in the register that the prefix names.
        return instruction.opcode_map == ZYDIS_OPCODE_MAP_0F38 && opcode >= 0xf0;
    switch (instruction.opcode_map) {
    case ZYDIS_OPCODE_MAP_DEFAULT:
        return opcode == 0x5c || opcode == 0x94 || opcode == 0xbc || opcode == 0xb4 ||
               // Above: pop, xchg, mov.
               (opcode >= 0xc8 && opcode <= 0xcf) || // enter, leave, far ret, int, iret
               (opcode == 0xff && instruction.raw.modrm.reg == 3);
    case ZYDIS_OPCODE_MAP_0F:
        // bswap, syscall, sysret, sysenter, sysexit; moves from control registers, whose ModRM byte
        // always names a register.
        return (opcode >= 0x20 && opcode <= 0x23) || opcode == 0xcc || opcode == 0x05 ||
               opcode == 0x07 || opcode == 0x34 || opcode == 0x35;
    default:
        return false;
    }
}

} // namespace

ValueMove value_move(std::span<const std::byte> bytes) {
    Decoded decoded;
    if (!decode_operands(bytes, decoded))
        return {};
    ValueMove move, other;
    if (read_value_move(decoded, move))
        return move;
    return read_memory_write(decoded, other) ? other : ValueMove{};
}

std::optional<RegisterWrites> register_writes(std::span<const std::byte> bytes, uint64_t address) {
    Decoded decoded;
    if (!decode_operands(bytes, decoded))
        return std::nullopt;
    const ZydisDecodedInstruction& instruction = decoded.instruction;
    RegisterWrites writes{};
    writes.length = instruction.length;
    writes.flow = next_of(instruction);
    writes.system_call = instruction.mnemonic == ZYDIS_MNEMONIC_SYSCALL;
    writes.other_gate = is_other_gate(instruction);
    writes.eax = value_of_eax(decoded);
    const bool branch =
        writes.flow == Flow::jump || writes.flow == Flow::conditional || writes.flow == Flow::call;
    bool visible_write = false; // of the stack pointer
    for (size_t i = 0; i < instruction.operand_count; ++i) {
        const ZydisDecodedOperand& operand = decoded.operands[i];
        const bool visible = i < instruction.operand_count_visible;
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
            (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) {
            const int number = number_of(operand.reg.value);
            if (number != no_number)
                writes.written |= static_cast<RegisterSet>(1u << number);
            visible_write |= visible && number == number_rsp;
        }
        if (branch && visible && operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
            operand.imm.is_relative)
            writes.target =
                address + instruction.length + static_cast<uint64_t>(operand.imm.value.s);
    }
    writes.indirect = branch && writes.target == 0;
    read_copy(decoded, writes);
    if (writes.written >> number_rsp & 1)
        writes.stack = stack_write(decoded, writes, visible_write);
    return writes;
}

std::optional<InstructionGlance> glance_at(std::span<const std::byte> bytes, uint64_t address) {
    static const ZydisDecoder decoder = make_minimal_decoder();
    ZydisDecodedInstruction instruction;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, bytes.data(), bytes.size(),
                                                    &instruction)))
        return std::nullopt;
    InstructionGlance glance{instruction.length, suspicious(instruction), 0};
    const uint8_t opcode = instruction.opcode;
    const bool jump =
        instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
        ((instruction.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
          ((opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3) ||
           opcode == 0xe9 || opcode == 0xeb ||
           (opcode == 0xc7 && instruction.raw.modrm.mod == 3 && instruction.raw.modrm.reg == 7))) ||
         (instruction.opcode_map == ZYDIS_OPCODE_MAP_0F && opcode >= 0x80 && opcode <= 0x8f));
    if (jump) // or xbegin
        glance.target =
            address + instruction.length + static_cast<uint64_t>(instruction.raw.imm[0].value.s);
    return glance;
}

} // namespace auger
