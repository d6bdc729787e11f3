// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/thread_variable.h"

namespace auger {

void put_thread_variable(ByteWriter& out, const ThreadVariable& variable) {
    out.varint(variable.offset);
    out.varint(variable.block_size);
    out.varint(variable.slot.has_value());
    const ThreadVariable::Slot slot = variable.slot.value_or(ThreadVariable::Slot());
    out.varint(static_cast<uint64_t>(slot.kind));
    out.varint(slot.address);
    out.zigzag(slot.distance);
}

ThreadVariable take_thread_variable(ByteReader& in) {
    using Kind = ThreadVariable::Slot::Kind;
    ThreadVariable variable;
    variable.offset = in.varint_up_to(INT32_MAX);
    variable.block_size = in.varint_up_to(INT32_MAX);
    const bool has_slot = in.boolean();
    ThreadVariable::Slot slot;
    slot.kind = static_cast<Kind>(in.varint_up_to(static_cast<uint64_t>(Kind::descriptor)));
    slot.address = in.varint();
    slot.distance = in.zigzag();
    if (slot.distance < -INT32_MAX || slot.distance > INT32_MAX)
        in.fail();
    if (has_slot)
        variable.slot = slot;
    return variable;
}

} // namespace auger
