// SPDX-License-Identifier: GPL-3.0-or-later
// What call frame information says of one place in the code, as far as we follow it, and the same
// in the form that tables hold.
#pragma once

#include "bpf/unwind_table.h"
#include "loader/reader/tables/frame_expression.h"

#include <utility>

namespace auger {

// How the canonical frame address is found.
struct CfaRule {
    bool known = false;
    FrameValue value; // address, memory or plt
};

// Where the caller's value of a register is.
struct RegisterRule {
    enum class Kind : uint8_t {
        same,        // still in the register
        at,          // in memory at base + offset; base may be register_cfa
        in_register, // base
        undefined,
        other,
    };
    Kind kind = Kind::same;
    uint8_t base = 0;
    int64_t offset = 0;
};

struct FrameState {
    CfaRule cfa;
    RegisterRule rbx, rbp, rsp, return_address;

    // The rule of a column, or null when it is none that we follow.
    const RegisterRule* column(uint64_t number) const {
        switch (number) {
        case register_kept:
            return &rbx;
        case register_frame:
            return &rbp;
        case register_stack:
            return &rsp;
        case register_return_address:
            return &return_address;
        }
        return nullptr;
    }
    RegisterRule* column(uint64_t number) {
        return const_cast<RegisterRule*>(std::as_const(*this).column(number));
    }
};

wire_unwind_rule wire_rule(const FrameState& state);
wire_unwind_rule wire_rule(wire_cfa_kind kind); // of a frame about which nothing else is known

} // namespace auger
