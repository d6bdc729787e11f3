// SPDX-License-Identifier: GPL-3.0-or-later
// Of what it is known to do there is a list; whatever is not on it (division, which may trap,
// strings, floating point, whose exceptions a program may have asked for, fences, cpuid ...) is not
// brief.
#include "loader/arch/x86_64/reader/brief_instruction.h"

#include <algorithm>

namespace auger {
namespace {

using Brief = Instruction::Brief;

// What the C library keeps of a thread where fs points: the stack protector's word, among others.
// Thread-local variables lie below, and may be touched for the first time.
constexpr int64_t thread_head = 64; // bytes

bool is_division(ZydisMnemonic mnemonic) {
    return mnemonic == ZYDIS_MNEMONIC_DIV || mnemonic == ZYDIS_MNEMONIC_IDIV;
}

bool calculates_briefly(const ZydisDecodedInstruction& decoded) {
    switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_BINARY:
        return !is_division(decoded.mnemonic);
    case ZYDIS_CATEGORY_POP: // popf may ask for traps
        return decoded.operand_count_visible > 0;
    case ZYDIS_CATEGORY_MISC:
        return decoded.mnemonic == ZYDIS_MNEMONIC_LEA || decoded.mnemonic == ZYDIS_MNEMONIC_LEAVE;
    case ZYDIS_CATEGORY_CET:
        return decoded.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
    case ZYDIS_CATEGORY_AVX:
        return decoded.mnemonic == ZYDIS_MNEMONIC_VZEROUPPER;
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_BMI2:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_LZCNT:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHIFT:
        return true;
    default:
        return false;
    }
}

bool is_plain_register(const ZydisDecodedInstruction& decoded, ZydisRegister name) {
    switch (ZydisRegisterGetClass(name)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
    case ZYDIS_REGCLASS_FLAGS:
        return true;
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
    case ZYDIS_REGCLASS_MASK: // from or to floating point
        return decoded.meta.category != ZYDIS_CATEGORY_CONVERT;
    default: // x87 and MMX wait for exceptions, segments are looked up, others are the kernel's
        return false;
    }
}

Brief brief_access(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand& operand) {
    if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN || decoded.mnemonic == ZYDIS_MNEMONIC_LEAVE)
        return Brief::yes;
    // A bit's number leads anywhere, and xchg locks the bus.
    if (operand.mem.type != ZYDIS_MEMOP_TYPE_MEM || operand.mem.index != ZYDIS_REGISTER_NONE ||
        decoded.meta.category == ZYDIS_CATEGORY_BITBYTE || decoded.mnemonic == ZYDIS_MNEMONIC_XCHG)
        return Brief::no;
    if (operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS)
        return operand.mem.base == ZYDIS_REGISTER_NONE && operand.mem.disp.value >= 0 &&
                       operand.mem.disp.value < thread_head
                   ? Brief::yes
                   : Brief::no;
    switch (operand.mem.base) {
    case ZYDIS_REGISTER_RSP:
    case ZYDIS_REGISTER_RIP:
        return Brief::yes;
    case ZYDIS_REGISTER_RBP:
        return Brief::by_frame_pointer;
    default:
        return Brief::no;
    }
}

Brief brief_operand(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand& operand) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY)
        return brief_access(decoded, operand);
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
        !is_plain_register(decoded, operand.reg.value))
        return Brief::no;
    return Brief::yes;
}

} // namespace

Brief brief(const ZydisDecodedInstruction& decoded, std::span<const ZydisDecodedOperand> operands) {
    if (decoded.mnemonic == ZYDIS_MNEMONIC_NOP)
        return Brief::yes;
    if (!calculates_briefly(decoded) || decoded.attributes & ZYDIS_ATTRIB_HAS_LOCK)
        return Brief::no;
    Brief all = Brief::yes;
    for (const ZydisDecodedOperand& operand : operands)
        all = std::min(all, brief_operand(decoded, operand));
    return all;
}

} // namespace auger
