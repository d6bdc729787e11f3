// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/calling_convention.h"

namespace auger {

Place argument_place(unsigned number, ValueType type) {
    constexpr uint8_t registers[convention_registers] = {5, 4, 1, 2, 8, 9}; // rdi rsi rdx rcx r8 r9
    if (number < convention_registers)
        return Place::of_register(registers[number], std::move(type));
    return Place::of_frame(8 * (int64_t{number} - convention_registers), std::move(type));
}

} // namespace auger
