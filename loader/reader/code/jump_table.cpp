// SPDX-License-Identifier: GPL-3.0-or-later
// Compilers write a switch in one of two shapes: a table of 4-byte distances that are added to the
// table's address, or a table of 8-byte addresses. The first is told by its `add`; the second is
// read, because an array of function pointers looks the same in code.
#include "loader/reader/code/jump_table.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace auger {
namespace {

using Flow = Instruction::Flow;
using Move = Instruction::Move;

constexpr size_t look_back = 16; // instructions

// The last instruction before `before` in the same straight line that writes the register.
const Instruction* last_write(std::span<const Instruction> code, size_t before, uint8_t reg) {
    for (size_t i = before; i > 0 && before - i < look_back;) {
        const Instruction& at = code[--i];
        if (at.address + at.length != code[i + 1].address || at.flow == Flow::jump ||
            at.flow == Flow::ret || at.flow == Flow::stop || at.flow == Flow::call)
            return nullptr;
        if (at.move != Move::none && at.written == reg)
            return &at;
    }
    return nullptr;
}

// Whether the array that `at` reads an element of holds addresses inside the function.
bool array_of_inside(std::span<const Instruction> code, const Instruction& at,
                     const std::function<bool(uint64_t)>& inside,
                     const std::function<std::vector<std::byte>(uint64_t, size_t)>& read_data) {
    if (!at.memory || at.index == no_register || at.scale != 8)
        return false;
    uint64_t table = at.displacement;
    if (at.base != no_register) {
        size_t position = static_cast<size_t>(&at - code.data());
        const Instruction* base = last_write(code, position, at.base);
        if (!base || base->move != Move::load_address || base->base != no_register ||
            base->index != no_register)
            return false;
        table += base->displacement;
    }
    std::vector<std::byte> element = read_data(table, sizeof(uint64_t));
    uint64_t address;
    if (element.size() != sizeof address)
        return false;
    std::memcpy(&address, element.data(), sizeof address);
    return inside(address);
}

} // namespace

bool jumps_through_table(
    std::span<const Instruction> code, size_t jump,
    const std::function<bool(uint64_t address)>& inside,
    const std::function<std::vector<std::byte>(uint64_t address, size_t size)>& read_data) {
    const Instruction& at = code[jump];
    if (at.notrack)
        return true;
    if (at.memory)
        return array_of_inside(code, at, inside, read_data);
    const Instruction* source = last_write(code, jump, at.written);
    if (!source)
        return false;
    switch (source->move) {
    case Move::add:
        return true;
    case Move::load:
        return array_of_inside(code, *source, inside, read_data);
    case Move::load_address:
        return source->base == no_register &&
               source->index == no_register && inside(source->displacement);
    default:
        return false;
    }
}

} // namespace auger
