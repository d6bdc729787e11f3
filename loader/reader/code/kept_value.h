// SPDX-License-Identifier: GPL-3.0-or-later
// kept_value: where a function that runs in its caller's frame has a number that it was given in a
// register, at each of its instructions: in registers, in a frame that it makes for a while, or in
// its caller's. The number may grow by little on its way, and may be handed on, by a jump through a
// table, in the register that it came in.
#pragma once

#include "loader/reader/code/function_code.h"
#include "loader/reader/code/register_writes.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace auger {

// Of a place: below, a register's bit is its number's, and the word n words below the frame pointer
// of a frame that the function has made itself has this one's plus n.
constexpr uint32_t first_frame_word = 16, frame_words = 48;

// Whether what is called at an address leaves all registers as they were.
using KeepsRegisters = std::function<bool(uint64_t address)>;

struct KeptValue {
    uint64_t address; // of an instruction that is to be executed next
    uint64_t places;  // that have the number then
    bool saved;       // it is in the caller's frame, too
};

// The number comes in `number`; its place in the frame is 4 bytes at the frame pointer plus `slot`.
// Registers are machine code's (register_writes.h). Nothing when the code does not decode from
// start to end, or jumps between instructions. Instructions that nothing leads to have it nowhere.
std::optional<std::vector<KeptValue>> kept_value(const CodePart& code, uint8_t number, int64_t slot,
                                                 const KeepsRegisters& keeps_registers);

} // namespace auger
