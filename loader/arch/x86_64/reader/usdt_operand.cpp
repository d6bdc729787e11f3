// SPDX-License-Identifier: GPL-3.0-or-later
// Operands in AT&T syntax: `%edi`, `-24(%rbp)`, `$17`, `table+8(%rip)`.
#include "loader/reader/values/usdt_operand.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

namespace auger {
namespace {

struct Part {
    uint8_t number, shift, size;
};

struct Names {
    std::string_view eight, four, two, one;
};

// In the order of DWARF's numbers.
constexpr std::array<Names, 16> registers = {{{"rax", "eax", "ax", "al"},
                                              {"rdx", "edx", "dx", "dl"},
                                              {"rcx", "ecx", "cx", "cl"},
                                              {"rbx", "ebx", "bx", "bl"},
                                              {"rsi", "esi", "si", "sil"},
                                              {"rdi", "edi", "di", "dil"},
                                              {"rbp", "ebp", "bp", "bpl"},
                                              {"rsp", "esp", "sp", "spl"},
                                              {"r8", "r8d", "r8w", "r8b"},
                                              {"r9", "r9d", "r9w", "r9b"},
                                              {"r10", "r10d", "r10w", "r10b"},
                                              {"r11", "r11d", "r11w", "r11b"},
                                              {"r12", "r12d", "r12w", "r12b"},
                                              {"r13", "r13d", "r13w", "r13b"},
                                              {"r14", "r14d", "r14w", "r14b"},
                                              {"r15", "r15d", "r15w", "r15b"}}};
// Of the first four, their second byte.
constexpr std::array<std::string_view, 4> high_bytes = {"ah", "dh", "ch", "bh"};

std::optional<Part> register_named(std::string_view name) {
    for (uint8_t i = 0; i < registers.size(); ++i) {
        const Names& names = registers[i];
        for (const auto& [size, text] : {std::pair<uint8_t, std::string_view>{8, names.eight},
                                         {4, names.four},
                                         {2, names.two},
                                         {1, names.one}})
            if (text == name)
                return Part{i, 0, size};
    }
    for (uint8_t i = 0; i < high_bytes.size(); ++i)
        if (high_bytes[i] == name)
            return Part{i, 8, 1};
    return std::nullopt;
}

Error unreadable(std::string cause) {
    return {{}, {}, std::move(cause), {}, Error::Kind::failed};
}

// Takes a number with its sign from the front, `12`, `-0x8`, `+4`; nothing: there is none, or it is
// too large. A lone sign before a symbol is none.
std::optional<int64_t> take_number(std::string_view& text) {
    size_t at = 0;
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+'))
        at = 1;
    int base = 10;
    if (text.substr(at).starts_with("0x")) {
        base = 16;
        at += 2;
    }
    uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data() + at, text.data() + text.size(), value, base);
    if (error != std::errc() || end == text.data() + at)
        return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return static_cast<int64_t>(negative ? -value : value);
}

Result<UsdtOperand> memory(std::string_view text, std::string_view displacement,
                           std::string_view inside) {
    UsdtOperand operand;
    if (inside.find(',') != inside.npos)
        return unreadable(fmt::format("its address is a sum of registers ({})", text));
    if (inside == "%rip") {
        operand.kind = UsdtOperand::Kind::at_symbol;
        // The number stands behind the symbol or before it.
        if (const auto number = take_number(displacement)) {
            operand.number = *number;
            if (displacement.starts_with('+'))
                displacement.remove_prefix(1);
        }
        const size_t sign = displacement.find_first_of("+-");
        operand.symbol = displacement.substr(0, sign);
        if (sign != displacement.npos) {
            std::string_view rest = displacement.substr(sign);
            const auto number = take_number(rest);
            if (!number || !rest.empty() ||
                __builtin_add_overflow(operand.number, *number, &operand.number))
                return unreadable(fmt::format("its place is not understood ({})", text));
        }
        if (operand.symbol.empty() || operand.symbol.find('@') != operand.symbol.npos)
            return unreadable(fmt::format("its place is not understood ({})", text));
        return operand;
    }
    operand.kind = UsdtOperand::Kind::in_memory;
    const auto base = inside.starts_with('%') ? register_named(inside.substr(1)) : std::nullopt;
    if (!base || base->size != 8)
        return unreadable(fmt::format("its place is not understood ({})", text));
    operand.dwarf_register = base->number;
    if (displacement.empty())
        return operand;
    const auto number = take_number(displacement);
    if (!number || !displacement.empty())
        return unreadable(fmt::format("its place is not understood ({})", text));
    operand.number = *number;
    return operand;
}

} // namespace

Result<UsdtOperand> parse_usdt_operand(std::string_view text) {
    UsdtOperand operand;
    if (text.starts_with('$')) {
        std::string_view rest = text.substr(1);
        const auto number = take_number(rest);
        if (!number || !rest.empty())
            return unreadable(fmt::format("its value is an address that is not known ({})", text));
        operand.number = *number;
        return operand;
    }
    if (text.ends_with(')')) {
        const size_t open = text.rfind('(');
        if (open != text.npos && text.find(':') == text.npos)
            return memory(text, text.substr(0, open),
                          text.substr(open + 1, text.size() - open - 2));
    }
    if (text.starts_with("%xmm") || text.starts_with("%ymm") || text.starts_with("%st"))
        return unreadable(fmt::format("it is in a vector register ({})", text));
    const auto part = text.starts_with('%') ? register_named(text.substr(1)) : std::nullopt;
    if (!part)
        return unreadable(fmt::format("its place is not understood ({})", text));
    operand.kind = UsdtOperand::Kind::in_register;
    operand.dwarf_register = part->number;
    operand.shift = part->shift;
    operand.size = part->size;
    return operand;
}

} // namespace auger
