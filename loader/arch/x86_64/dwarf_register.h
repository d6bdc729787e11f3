// SPDX-License-Identifier: GPL-3.0-or-later
// Registers as DWARF numbers them on x86-64 (System V ABI, "DWARF Register Number Mapping"): those
// that somebody asks for by name.
#pragma once

#include <cstdint>

namespace auger {

enum DwarfRegister : uint8_t {
    register_result = 0,        // rax
    register_result_high = 1,   // rdx, of a result in two registers
    register_kept = 3,          // rbx, by which some outer frames are found
    register_frame = 6,         // rbp
    register_stack = 7,         // rsp
    register_last_general = 15, // r15
    register_code = 16,         // rip
    register_return_address = 16,
    register_last = 16, // that a rule may name
};

// Of a register as machine code numbers it.
constexpr uint8_t dwarf_register(uint8_t number) {
    constexpr uint8_t low[] = {0, 2, 1, 3, 7, 6, 4, 5};
    return number < sizeof low ? low[number] : number;
}

} // namespace auger
