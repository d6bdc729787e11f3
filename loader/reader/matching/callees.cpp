// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/callees.h"

namespace auger {
namespace {

// A landing pad, a load of the symbol's number, the jump: what linkers write.
constexpr size_t stub_size = 16; // bytes
constexpr size_t stub_instructions = 3;

} // namespace

Callees::Callees(std::shared_ptr<const FunctionIndex> index)
    : index_(std::move(index)), slots_(index_->file_pointer()) {}

Callee Callees::function_at(uint64_t address, bool ifunc) const {
    Callee callee;
    const FunctionIndex::Function* function = index_->containing(address);
    if (!function || function->address != address)
        return callee;
    for (const ElfFunction& symbol : index_->names(*function))
        callee.names.push_back(symbol.name);
    callee.address = address;
    callee.ifunc = ifunc || function->ifunc;
    return callee;
}

Callee Callees::at_slot(uint64_t slot) const {
    const Slots::Value value = slots_.at(slot);
    if (!value.symbol.empty())
        return {{value.symbol}, 0, false};
    return function_at(value.address, value.ifunc);
}

const Callee& Callees::at_code(uint64_t address) const {
    const auto [at, added] = by_code_.try_emplace(address);
    if (!added)
        return at->second;
    at->second = function_at(address, false);
    if (at->second.known())
        return at->second;
    const std::vector<std::byte> stub = index_->file().read_code(address, stub_size);
    size_t offset = 0;
    for (size_t i = 0; i < stub_instructions && offset < stub.size(); ++i) {
        const auto instruction = decode(std::span(stub).subspan(offset), address + offset);
        if (!instruction)
            break;
        if (instruction->flow == Instruction::Flow::jump && instruction->memory &&
            !instruction->base && !instruction->index) {
            at->second = at_slot(instruction->displacement);
            break;
        }
        if (instruction->flow != Instruction::Flow::next || instruction->moves_stack)
            break;
        offset += instruction->length;
    }
    return at->second;
}

bool Callees::through_variable(const CallInstruction& call) const {
    return call.kind == CallInstruction::Target::unknown ||
           (call.kind == CallInstruction::Target::slot && !slots_.at(call.target).for_calls);
}

Callee Callees::of(const CallInstruction& call) const {
    switch (call.kind) {
    case CallInstruction::Target::code:
        return at_code(call.target);
    case CallInstruction::Target::slot:
        return through_variable(call) ? Callee() : at_slot(call.target);
    case CallInstruction::Target::unknown:
        break;
    }
    return {};
}

} // namespace auger
