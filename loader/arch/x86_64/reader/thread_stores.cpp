// SPDX-License-Identifier: GPL-3.0-or-later
// As the System V ABI has it (local executable model): the thread pointer is at %fs:0, and either
// is loaded from there, or memory is written through the segment.
#include "loader/reader/code/thread_stores.h"

#include "loader/arch/x86_64/reader/decoded_instruction.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace auger {
namespace {

using Flow = Instruction::Flow;

// On which an instruction is come to: behind a call, registers hold less.
constexpr uint8_t most_ways = 4;

// What a register holds.
struct Held {
    enum class Kind : uint8_t { unknown, thread, first_argument, second_argument, constant };
    Kind kind = Kind::unknown;
    int64_t number = 0; // thread: distance from the thread pointer; constant: it
};

struct HeldRegisters {
    std::array<Held, 16> registers{};
};

Held* register_of(HeldRegisters& state, ZydisRegister name) {
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    return whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15
               ? nullptr
               : &state.registers[static_cast<size_t>(whole - ZYDIS_REGISTER_RAX)];
}

// The distance of an operand in memory from the thread pointer.
std::optional<int64_t> thread_offset(HeldRegisters& state, const ZydisDecodedOperand& operand) {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.index != ZYDIS_REGISTER_NONE)
        return std::nullopt;
    const int64_t displacement = operand.mem.disp.has_displacement ? operand.mem.disp.value : 0;
    const Held* base = register_of(state, operand.mem.base);
    if (operand.mem.segment == ZYDIS_REGISTER_FS) {
        if (operand.mem.base == ZYDIS_REGISTER_NONE)
            return displacement;
        return base && base->kind == Held::Kind::constant
                   ? std::optional(base->number + displacement)
                   : std::nullopt;
    }
    return base && base->kind == Held::Kind::thread ? std::optional(base->number + displacement)
                                                    : std::nullopt;
}

ThreadStore store_of(int64_t offset, const Held& held, const ZydisDecodedOperand& to) {
    using Value = ThreadStore::Value;
    ThreadStore store{offset, Value::other, 0, static_cast<uint8_t>(to.size / 8)};
    if (held.kind == Held::Kind::first_argument)
        store.value = Value::first_argument;
    else if (held.kind == Held::Kind::second_argument)
        store.value = Value::second_argument;
    else if (held.kind == Held::Kind::constant) {
        store.value = Value::constant;
        store.constant = held.number;
    }
    return store;
}

// What `operand` is worth; a part of a register is not known.
Held value_of(HeldRegisters& state, const ZydisDecodedOperand& operand) {
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return {Held::Kind::constant, operand.imm.value.s};
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.size == 64)
        if (const Held* held = register_of(state, operand.reg.value))
            return *held;
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.size == 64 &&
        operand.mem.segment == ZYDIS_REGISTER_FS && thread_offset(state, operand) == 0)
        return {Held::Kind::thread, 0};
    return {};
}

// What the instruction's first operand, a register, holds behind it.
Held result_of(HeldRegisters& state, const DecodedInstruction& decoded) {
    const auto& operands = decoded.operands;
    switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        if (operands[0].size == 64 || operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            return value_of(state, operands[1]);
        return {};
    case ZYDIS_MNEMONIC_LEA:
        if (const auto offset = thread_offset(state, operands[1]); offset && operands[0].size == 64)
            return {Held::Kind::thread, *offset};
        return {};
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB: {
        const Held held = value_of(state, operands[0]);
        if (held.kind != Held::Kind::thread || operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
            return {};
        const int64_t amount = operands[1].imm.value.s;
        return {Held::Kind::thread,
                held.number +
                    (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_ADD ? amount : -amount)};
    }
    case ZYDIS_MNEMONIC_XOR:
        if (operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operands[0].reg.value == operands[1].reg.value)
            return {Held::Kind::constant, 0};
        return {};
    default:
        return {};
    }
}

// A callee may change all registers but those that it has to give back.
void forget_scratch(HeldRegisters& state) {
    for (const ZydisRegister name : {ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_RDX,
                                     ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_R8,
                                     ZYDIS_REGISTER_R9, ZYDIS_REGISTER_R10, ZYDIS_REGISTER_R11})
        *register_of(state, name) = {};
}

void add_store(std::vector<ThreadStore>& stores, const ThreadStore& store) {
    if (std::ranges::find(stores, store) == stores.end())
        stores.push_back(store);
}

void apply_instruction(HeldRegisters& state, const DecodedInstruction& decoded) {
    if (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_CALL)
        return forget_scratch(state);
    const Held result = result_of(state, decoded);
    for (size_t i = 0; i < decoded.instruction.operand_count; i++) {
        const ZydisDecodedOperand& operand = decoded.operands[i];
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            if (Held* held = register_of(state, operand.reg.value))
                *held = i == 0 ? result : Held{};
    }
}

} // namespace

std::vector<ThreadStore> thread_stores(const CodePart& code) {
    HeldRegisters first;
    *register_of(first, ZYDIS_REGISTER_RDI) = {Held::Kind::first_argument, 0};
    *register_of(first, ZYDIS_REGISTER_RSI) = {Held::Kind::second_argument, 0};
    std::vector<ThreadStore> stores;
    std::vector<uint8_t> visits(code.bytes.size());
    std::vector<std::pair<size_t, HeldRegisters>> work{{0, first}};
    while (!work.empty()) {
        auto [at, state] = work.back();
        work.pop_back();
        while (at < code.bytes.size() && visits[at]++ < most_ways) {
            const auto rest = code.bytes.subspan(at);
            const auto instruction = decode(rest, code.address + at);
            DecodedInstruction decoded;
            if (!instruction || !decode_operands(rest, decoded))
                break;
            const ZydisDecodedOperand& to = decoded.operands[0];
            if (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOV)
                if (const auto offset = thread_offset(state, to))
                    add_store(stores, store_of(*offset, value_of(state, decoded.operands[1]), to));
            apply_instruction(state, decoded);
            if (instruction->is_branch() && instruction->target - code.address < visits.size())
                work.emplace_back(instruction->target - code.address, state);
            if (instruction->flow == Flow::jump || instruction->flow == Flow::ret ||
                instruction->flow == Flow::stop)
                break;
            at += instruction->length;
        }
    }
    return stores;
}

} // namespace auger
