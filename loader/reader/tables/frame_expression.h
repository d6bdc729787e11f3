// SPDX-License-Identifier: GPL-3.0-or-later
// DWARF expressions in call frame information, worked out with unknown registers. Compilers and
// linkers write a few forms only; what they come to is one of the kinds below, and nothing else is
// understood.
#pragma once

#include "loader/arch/arch.h"
#include "loader/unwind/byte_cursor.h"

#include ARCH(dwarf_register.h)

#include <cstdint>
#include <optional>

namespace auger {

// No register, but in the place of one: the frame's CFA, which a rule's expression begins with.
inline constexpr uint8_t register_cfa = 255;

struct FrameValue {
    enum class Kind : uint8_t {
        constant,     // offset
        address,      // register + offset
        memory,       // *(register + offset) + addend
        code_bits,    // rip & 15
        code_reached, // (rip & 15) >= addend
        code_slot,    // (rip & 15) >= addend ? 8 : 0
        plt,          // register + offset + code_slot
    };
    Kind kind = Kind::constant;
    uint8_t base = 0; // the register
    int64_t offset = 0;
    int64_t addend = 0;
};

// `begins_with_cfa`: that of a register's rule does, that of the CFA itself does not. Nothing when
// it is broken, or of another form.
std::optional<FrameValue> frame_value(Bytes expression, bool begins_with_cfa);

} // namespace auger
