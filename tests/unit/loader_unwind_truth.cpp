// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/loader_unwind_truth.h"

#include <dwarf.h>

#include <array>
#include <vector>

namespace auger::test {
namespace {

uint64_t scrambled(uint64_t x) {
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44d;
    return x ^ x >> 33;
}

uint64_t register_value(unsigned number, uint64_t address) {
    return number == 16 ? address : scrambled(0x1000 + number);
}

uint64_t memory_value(uint64_t place) {
    return scrambled(place + 0x5555555555555555);
}

struct Location {
    enum Kind { undefined, same, memory, value, in_register } kind = undefined;
    uint64_t number = 0;
};

// The result of an expression, or nothing for an operation that is not known here.
std::optional<Location> evaluate(const Dwarf_Op* ops, size_t count, uint64_t address,
                                 std::optional<uint64_t> cfa) {
    std::vector<uint64_t> stack;
    const auto pop = [&] {
        const uint64_t value = stack.empty() ? 0 : stack.back();
        if (!stack.empty())
            stack.pop_back();
        return value;
    };
    for (size_t i = 0; i < count; ++i) {
        const uint8_t atom = ops[i].atom;
        const uint64_t operand = ops[i].number;
        if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
            stack.push_back(atom - DW_OP_lit0);
        } else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
            stack.push_back(register_value(atom - DW_OP_breg0, address) + operand);
        } else if (atom == DW_OP_bregx) {
            stack.push_back(register_value(static_cast<unsigned>(operand), address) +
                            ops[i].number2);
        } else if (atom == DW_OP_regx) {
            return Location{Location::in_register, operand};
        } else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
            return Location{Location::in_register, uint64_t{atom} - DW_OP_reg0};
        } else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
            stack.push_back(operand);
        } else if (atom == DW_OP_call_frame_cfa && cfa) {
            stack.push_back(*cfa);
        } else if (atom == DW_OP_plus_uconst) {
            stack.push_back(pop() + operand);
        } else if (atom == DW_OP_deref) {
            stack.push_back(memory_value(pop()));
        } else if (atom == DW_OP_stack_value) {
            return Location{Location::value, pop()};
        } else if (atom != DW_OP_nop) {
            const uint64_t b = pop(), a = pop();
            switch (atom) {
            case DW_OP_plus:
                stack.push_back(a + b);
                break;
            case DW_OP_minus:
                stack.push_back(a - b);
                break;
            case DW_OP_and:
                stack.push_back(a & b);
                break;
            case DW_OP_mul:
                stack.push_back(a * b);
                break;
            case DW_OP_ge:
                stack.push_back(static_cast<int64_t>(a) >= static_cast<int64_t>(b));
                break;
            case DW_OP_shl:
                stack.push_back(a << b);
                break;
            default:
                return std::nullopt;
            }
        }
    }
    return Location{Location::memory, pop()};
}

std::optional<uint64_t> register_by_libdw(Dwarf_Frame* frame, unsigned number, uint64_t address,
                                          std::optional<uint64_t> cfa, bool& undefined) {
    Dwarf_Op memory[3];
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    undefined = false;
    if (dwarf_frame_register(frame, static_cast<int>(number), memory, &ops, &count) != 0)
        return std::nullopt;
    if (count == 0) {
        undefined = ops == memory;
        if (undefined)
            return std::nullopt;
        return register_value(number, address);
    }
    const auto location = evaluate(ops, count, address, cfa);
    if (!location)
        return std::nullopt;
    switch (location->kind) {
    case Location::memory:
        return memory_value(location->number);
    case Location::in_register:
        return register_value(static_cast<unsigned>(location->number), address);
    default:
        return location->number;
    }
}

std::optional<uint64_t> saved_by_rule(unsigned number, uint8_t kind, int16_t offset, uint64_t cfa,
                                      uint64_t address) {
    switch (kind) {
    case WIRE_SAVED_NOT:
        return register_value(number, address);
    case WIRE_SAVED_AT_CFA:
        return memory_value(cfa + static_cast<uint64_t>(8 * int64_t{offset}));
    case WIRE_SAVED_AT_RBP:
        return memory_value(register_value(6, address) +
                            static_cast<uint64_t>(8 * int64_t{offset}));
    }
    return std::nullopt;
}

} // namespace

CallerFrame caller_by_libdw(Dwarf_Frame* frame, uint64_t address, bool signal) {
    CallerFrame caller;
    caller.signal = signal;
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count > 0)
        if (const auto location = evaluate(ops, count, address, std::nullopt))
            caller.cfa = location->number;
    bool undefined = false;
    caller.rbx = register_by_libdw(frame, 3, address, caller.cfa, undefined);
    // Functions preserve rbx, so it is the caller's where nothing is said of it. libdw 0.188 has
    // this rule for rax (number 0), where that for rbx should be.
    if (undefined)
        caller.rbx = register_value(3, address);
    caller.rbp = register_by_libdw(frame, 6, address, caller.cfa, undefined);
    caller.rsp = register_by_libdw(frame, 7, address, caller.cfa, undefined);
    caller.return_address = register_by_libdw(frame, 16, address, caller.cfa, undefined);
    caller.outermost = undefined;
    return caller;
}

CallerFrame caller_by_rule(const wire_unwind_rule& rule, uint64_t address) {
    CallerFrame caller;
    const uint64_t base =
        register_value(rule.cfa_register, address) + static_cast<uint64_t>(int64_t{rule.offset});
    switch (rule.cfa) {
    case WIRE_CFA_END:
        caller.outermost = true;
        return caller;
    case WIRE_CFA_SIGNAL:
        caller.signal = true;
        return caller;
    case WIRE_CFA_REGISTER:
        caller.cfa = base;
        break;
    case WIRE_CFA_MEMORY:
        caller.cfa = memory_value(base) + static_cast<uint64_t>(int64_t{rule.addend});
        break;
    case WIRE_CFA_PLT:
        caller.cfa = base + (static_cast<int64_t>(address & 15) >= rule.addend ? 8 : 0);
        break;
    default:
        return caller;
    }
    caller.rsp = caller.cfa;
    caller.rbx = saved_by_rule(3, rule.rbx_saved, rule.rbx_offset, *caller.cfa, address);
    caller.rbp = saved_by_rule(6, rule.rbp_saved, rule.rbp_offset, *caller.cfa, address);
    caller.return_address = rule.return_kind == WIRE_RETURN_REGISTER
                                ? register_value(rule.return_register, address)
                                : memory_value(*caller.cfa - 8);
    return caller;
}

} // namespace auger::test
