// SPDX-License-Identifier: GPL-3.0-or-later
// An instruction with all its operands, as Zydis has them. Of this folder alone.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstddef>
#include <span>

namespace auger {

struct DecodedInstruction {
    ZydisDecodedInstruction instruction;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
};

// Of the first bytes. False: they are no complete valid instruction.
inline bool decode_operands(std::span<const std::byte> bytes, DecodedInstruction& decoded) {
    static const ZydisDecoder decoder = [] {
        ZydisDecoder made;
        ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        return made;
    }();
    ZydisDecoderContext context;
    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, bytes.data(),
                                                      bytes.size(), &decoded.instruction)) &&
           ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, &decoded.instruction,
                                                   decoded.operands.data(),
                                                   decoded.instruction.operand_count));
}

} // namespace auger
