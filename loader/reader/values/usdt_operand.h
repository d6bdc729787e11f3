// SPDX-License-Identifier: GPL-3.0-or-later
// Where an argument of a USDT probe lies, as the machine's assembler writes operands: loader/arch.
#pragma once

#include "loader/base/result.h"

#include <cstdint>
#include <string_view>

namespace auger {

struct UsdtOperand {
    enum class Kind : uint8_t {
        constant, // `number`
        in_register,
        in_memory, // at the register + `number`
        at_symbol, // in memory: at `symbol` + `number`
    };
    Kind kind = Kind::constant;
    int64_t number = 0;
    uint8_t dwarf_register = 0;
    uint8_t shift = 0;         // the part of the register begins at this bit ...
    uint8_t size = 8;          // ... and has so many bytes
    std::string_view symbol{}; // part of the text
};

// Of an error only the cause is known: what cannot be read.
Result<UsdtOperand> parse_usdt_operand(std::string_view text);

} // namespace auger
