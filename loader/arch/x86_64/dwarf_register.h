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

} // namespace auger
