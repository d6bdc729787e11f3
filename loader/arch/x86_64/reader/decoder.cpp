// SPDX-License-Identifier: GPL-3.0-or-later
// The rules on what the kernel refuses and emulates follow arch/x86/kernel/uprobes.c; where kernel
// versions differ the stricter or dearer answer is taken.
#include "loader/reader/code/decoder.h"

#include "loader/arch/x86_64/reader/brief_instruction.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace auger {
namespace {

using Flow = Instruction::Flow;
using Move = Instruction::Move;

constexpr uint64_t page_size = 4096;

// First opcode bytes that the kernel refuses in 64-bit code. It looks at this byte behind VEX and
// EVEX prefixes also, so that some vector instructions fall under it by chance.
constexpr uint8_t refused_opcodes[] = {0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37,
                                       0x3f, 0x60, 0x61, 0x62, 0x6c, 0x6d, 0x6e, 0x6f, 0x82, 0x9a,
                                       0xcc, 0xcd, 0xce, 0xcf, 0xd4, 0xd5, 0xd6, 0xe4, 0xe5, 0xe6,
                                       0xe7, 0xea, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4, 0xfa, 0xfb};

bool refused_opcode(uint8_t opcode) {
    return std::binary_search(std::begin(refused_opcodes), std::end(refused_opcodes), opcode);
}

// Likewise behind VEX and EVEX it takes these for what they are in one byte, and does that in their
// place (jcc, nop, call, jmp: branch_setup_xol_ops()), or puts right what that would have done
// (ret, popf, call and jmp by ff: arch_uprobe_analyze_insn()): vmovq, vpor, vcmppd. A program would
// go on with wrong values, or die.
bool is_mistaken(const ZydisDecodedInstruction& decoded) {
    switch (decoded.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
        return false;
    case ZYDIS_INSTRUCTION_ENCODING_VEX:
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
        break;
    default: // it does not know their lengths
        return true;
    }
    constexpr uint8_t mistaken[] = {0x90, 0x9d, 0xc2, 0xc3, 0xca, 0xcb, 0xe8, 0xe9, 0xeb, 0xff};
    return (decoded.opcode >= 0x70 && decoded.opcode <= 0x7f) ||
           std::binary_search(std::begin(mistaken), std::end(mistaken), decoded.opcode);
}

struct Prefixes {
    bool bad = false; // lock, es, cs, ss, ds (the latter also as branch hint and notrack)
    bool operand_size = false;
    bool notrack = false;
};

Prefixes prefixes(const ZydisDecodedInstruction& decoded) {
    Prefixes found;
    for (size_t i = 0; i < decoded.raw.prefix_count; ++i) {
        switch (decoded.raw.prefixes[i].value) {
        case 0x3e:
            found.notrack = true;
            found.bad = true;
            break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0xf0:
            found.bad = true;
            break;
        case 0x66:
            found.operand_size = true;
            break;
        }
    }
    return found;
}

bool legacy_encoding(const ZydisDecodedInstruction& decoded) {
    return decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

bool legacy_opcode(const ZydisDecodedInstruction& decoded, ZydisOpcodeMap map, uint8_t first,
                   uint8_t last) {
    return legacy_encoding(decoded) && decoded.opcode_map == map && decoded.opcode >= first &&
           decoded.opcode <= last;
}

ProbeCost probe_cost(const ZydisDecodedInstruction& decoded, const Instruction& instruction,
                     const Prefixes& prefix) {
    // In a legacy encoding of the 0f maps the kernel's first byte is 0f, which it accepts.
    bool first_byte = !legacy_encoding(decoded) || decoded.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
    if (prefix.bad || (first_byte && refused_opcode(decoded.opcode)))
        return ProbeCost::refused;
    if (is_mistaken(decoded))
        return ProbeCost::refused;
    // `pushf` would store the flag of the single-step trap, which the popf behind it loads.
    if (legacy_opcode(decoded, ZYDIS_OPCODE_MAP_DEFAULT, 0x9c, 0x9c))
        return ProbeCost::refused;
    // `xchg %r8,%rax` is taken for a nop.
    if (legacy_opcode(decoded, ZYDIS_OPCODE_MAP_DEFAULT, 0x90, 0x90) && decoded.raw.rex.B)
        return ProbeCost::refused;
    // `mov ss` holds back the single-step trap by one instruction.
    if (legacy_opcode(decoded, ZYDIS_OPCODE_MAP_DEFAULT, 0x8e, 0x8e))
        return ProbeCost::refused;
    // A system call stepped out of line comes back in the wrong place when it is sigreturn.
    if (instruction.flow == Flow::trap || instruction.flow == Flow::stop)
        return ProbeCost::refused;
    if (instruction.nop5)
        return instruction.address % page_size <= page_size - 5 ? ProbeCost::optimised
                                                                : ProbeCost::single_stepped;
    bool jump8 = legacy_opcode(decoded, ZYDIS_OPCODE_MAP_DEFAULT, 0xeb, 0xeb);
    bool near = legacy_opcode(decoded, ZYDIS_OPCODE_MAP_DEFAULT, 0xe8, 0xe9);
    if (jump8 || near || instruction.condition != no_condition)
        return prefix.operand_size ? ProbeCost::refused : ProbeCost::emulated;
    if (legacy_opcode(decoded, ZYDIS_OPCODE_MAP_DEFAULT, 0x90, 0x90) && decoded.length == 1)
        return ProbeCost::emulated;
    // Longer nops are emulated by new kernels only.
    if (instruction.push &&
        (decoded.length == 1 || (decoded.length == 2 && decoded.raw.rex.offset == 0 &&
                                 (decoded.attributes & ZYDIS_ATTRIB_HAS_REX) && decoded.raw.rex.B &&
                                 !decoded.raw.rex.W && !decoded.raw.rex.R && !decoded.raw.rex.X)))
        return ProbeCost::emulated;
    return ProbeCost::single_stepped;
}

Flow flow_of(const ZydisDecodedInstruction& decoded) {
    switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_RET:
        return Flow::ret;
    case ZYDIS_MNEMONIC_JMP:
        return Flow::jump;
    case ZYDIS_MNEMONIC_CALL:
        return Flow::call;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_HLT:
        return Flow::stop;
    default:
        break;
    }
    switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return Flow::conditional;
    case ZYDIS_CATEGORY_RET: // iret, sysret, uiret
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
        return Flow::trap;
    default:
        return Flow::next;
    }
}

uint8_t condition_of(const ZydisDecodedInstruction& decoded) {
    if (legacy_opcode(decoded, ZYDIS_OPCODE_MAP_DEFAULT, 0x70, 0x7f) ||
        legacy_opcode(decoded, ZYDIS_OPCODE_MAP_0F, 0x80, 0x8f))
        return decoded.opcode & 15;
    return no_condition;
}

uint8_t register_id(ZydisRegister name) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return no_register;
    return static_cast<uint8_t>(whole - ZYDIS_REGISTER_RAX + 1);
}

// System V AMD64: where integer arguments are passed.
bool is_argument_register(uint8_t id) {
    for (ZydisRegister name : {ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDX,
                               ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_R8, ZYDIS_REGISTER_R9}) {
        if (id == register_id(name))
            return true;
    }
    return false;
}

void read_memory_operand(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand& operand,
                         Instruction& instruction) {
    instruction.memory = true;
    instruction.displacement =
        operand.mem.disp.has_displacement ? static_cast<uint64_t>(operand.mem.disp.value) : 0;
    if (operand.mem.base == ZYDIS_REGISTER_RIP)
        instruction.displacement += instruction.address + instruction.length;
    else
        instruction.base = register_id(operand.mem.base);
    instruction.index = register_id(operand.mem.index);
    instruction.scale = operand.mem.scale;
    instruction.odd_memory = decoded.address_width != 64 ||
                             operand.mem.segment == ZYDIS_REGISTER_FS ||
                             operand.mem.segment == ZYDIS_REGISTER_GS;
}

void read_operands(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands,
                   Instruction& instruction) {
    const uint8_t stack_pointer = register_id(ZYDIS_REGISTER_RSP);
    bool branch = instruction.flow == Flow::jump || instruction.flow == Flow::conditional ||
                  instruction.flow == Flow::call;
    for (size_t i = 0; i < decoded.operand_count; ++i) {
        const ZydisDecodedOperand& operand = operands[i];
        bool visible = i < decoded.operand_count_visible;
        bool writes = operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
            uint8_t id = register_id(operand.reg.value);
            if (writes && id == stack_pointer)
                instruction.moves_stack = true;
            instruction.writes_argument |= writes && is_argument_register(id);
            instruction.writes_result |= writes && id == register_id(ZYDIS_REGISTER_RAX);
            if (visible && i == 0 && (writes || branch))
                instruction.written = id;
            if (visible && i == 0 && branch)
                instruction.indirect = true;
        }
        // Whatever a memory operand of push or call means for the stack is a hidden operand.
        if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && visible) {
            read_memory_operand(decoded, operand, instruction);
            if (branch)
                instruction.indirect = true;
        }
        if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && visible && branch &&
            operand.imm.is_relative)
            instruction.target = instruction.address + instruction.length +
                                 static_cast<uint64_t>(operand.imm.value.s);
    }
    if (branch || instruction.written == no_register)
        return;
    if (decoded.mnemonic == ZYDIS_MNEMONIC_LEA)
        instruction.move = Move::load_address;
    else if (decoded.mnemonic == ZYDIS_MNEMONIC_MOV && instruction.memory)
        instruction.move = Move::load;
    else if (decoded.mnemonic == ZYDIS_MNEMONIC_ADD)
        instruction.move = Move::add;
    else
        instruction.move = Move::other_write;
}

} // namespace

std::optional<Instruction> decode(std::span<const std::byte> bytes, uint64_t address) {
    static const ZydisDecoder decoder = [] {
        ZydisDecoder made;
        ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        return made;
    }();
    ZydisDecoderContext context;
    ZydisDecodedInstruction decoded;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, bytes.data(), bytes.size(),
                                                    &decoded)) ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, &decoded, operands.data(),
                                                 decoded.operand_count)))
        return std::nullopt;

    Instruction instruction{};
    instruction.address = address;
    instruction.length = decoded.length;
    instruction.flow = flow_of(decoded);
    instruction.condition = condition_of(decoded);
    instruction.push = legacy_opcode(decoded, ZYDIS_OPCODE_MAP_DEFAULT, 0x50, 0x57);
    instruction.nop = decoded.mnemonic == ZYDIS_MNEMONIC_NOP;
    instruction.nop5 = instruction.nop && decoded.length == 5;
    instruction.locked = bytes[0] == std::byte{0xf0};
    instruction.brief = brief(decoded, {operands.data(), decoded.operand_count});
    Prefixes prefix = prefixes(decoded);
    instruction.notrack = prefix.notrack && instruction.flow == Flow::jump;
    read_operands(decoded, operands.data(), instruction);
    instruction.cost = probe_cost(decoded, instruction, prefix);
    return instruction;
}

bool may_land(std::span<const Instruction> code, uint64_t address) {
    const auto behind = std::ranges::upper_bound(code, address, {}, &Instruction::address);
    if (behind == code.begin())
        return false;
    const Instruction& at = *std::prev(behind);
    return at.address == address || (at.locked && at.address + 1 == address);
}

} // namespace auger
