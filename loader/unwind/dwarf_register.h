// SPDX-License-Identifier: GPL-3.0-or-later
// Registers as DWARF numbers them on x86-64 (System V ABI, "DWARF Register Number Mapping"): those
// that somebody asks for by name.
#pragma once

#include <cstdint>

namespace auger {

enum DwarfRegister : uint8_t {
    register_rax = 0,
    register_rdx = 1,
    register_rbx = 3,
    register_rbp = 6,
    register_rsp = 7,
    register_rip = 16, // also the column of the return address
};

} // namespace auger
