// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/thread_place.h"

#include "loader/arch/arch.h"

#include ARCH(machine.h)

namespace auger {
namespace {

using ThreadPlace = std::optional<wire_thread_place>;
using VariableSlot = ThreadVariable::Slot;

constexpr int64_t farthest_variable = INT32_MAX; // that a variable is from where it is counted from

Error no_place(std::string cause) {
    return {{}, {}, std::move(cause), {}, Error::Kind::failed};
}

Result<ThreadPlace> place_from_thread(int64_t offset) {
    if (offset < -farthest_variable || offset > farthest_variable)
        return no_place("the dynamic linker's note of where its threads have it makes no sense");
    return ThreadPlace({offset, 0, WIRE_THREAD_STATIC});
}

Result<ThreadPlace> place_in_block(uint64_t module, int64_t offset, bool with_vectors) {
    if (module == 0)
        return ThreadPlace();
    if (module >= WIRE_THREAD_MODULES || offset < 0 || offset > farthest_variable)
        return no_place("the dynamic linker's note of where its threads have it makes no sense");
    if (!with_vectors)
        return no_place("it is in a block of its own, and only glibc's are known");
    return ThreadPlace({offset, static_cast<uint32_t>(module), WIRE_THREAD_DYNAMIC});
}

} // namespace

Result<ThreadPlace> thread_place(const ThreadVariable& variable, bool is_program, bool with_vectors,
                                 uint64_t bias, const ReadWord& read) {
    const auto own_offset = static_cast<int64_t>(variable.offset);
    // Its block is the first, next to the thread pointer, whatever its code does.
    if (is_program)
        return place_from_thread(program_block_begin(variable.block_size) + own_offset);
    if (!variable.slot)
        return no_place("its own code does not use it, so that nobody has noted where threads have "
                        "it");
    const VariableSlot& slot = *variable.slot;
    const uint64_t address = bias + slot.address, distance = static_cast<uint64_t>(slot.distance);
    const auto first = read(address), second = read(address + sizeof(uint64_t));
    if (!first || (!second && slot.kind != VariableSlot::Kind::offset &&
                   slot.kind != VariableSlot::Kind::module))
        return ThreadPlace();
    switch (slot.kind) {
    case VariableSlot::Kind::offset:
        if (*first == 0)
            return ThreadPlace();
        return place_from_thread(static_cast<int64_t>(*first + distance));
    case VariableSlot::Kind::module:
        return place_in_block(*first, own_offset, with_vectors);
    case VariableSlot::Kind::module_and_offset:
        return place_in_block(*first, static_cast<int64_t>(*second + distance), with_vectors);
    case VariableSlot::Kind::descriptor:
        break;
    }
    if (*first == 0 || *second == 0)
        return ThreadPlace();
    if (is_thread_offset(*second))
        return place_from_thread(static_cast<int64_t>(*second + distance));
    const auto module = read(*second), offset = read(*second + sizeof(uint64_t));
    // In older C libraries it leads to the relocation until somebody uses it.
    if (!module || !offset || *module >= WIRE_THREAD_MODULES ||
        *offset > static_cast<uint64_t>(farthest_variable))
        return ThreadPlace();
    return place_in_block(*module, static_cast<int64_t>(*offset + distance), with_vectors);
}

} // namespace auger
