// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/go_runtime.h"

#include "loader/reader/elf/go_table.h"
#include "loader/unwind/byte_cursor.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <set>

namespace auger {
namespace {

constexpr uint64_t largest_switch = 4096; // bytes of a function that changes stacks

// mov DISPLACEMENT(FROM), TO in machine code, by the numbers that it gives the registers. Nothing
// for everything else.
std::optional<int32_t> take_load(ByteCursor& code, unsigned from, unsigned to) {
    constexpr uint8_t wide = 0x48, load = 0x8b;
    if (code.byte() != wide || code.byte() != load)
        return std::nullopt;
    const uint8_t operands = code.byte();
    if ((operands & 0x3f) != (to << 3 | from))
        return std::nullopt;
    switch (operands >> 6) {
    case 0:
        return 0;
    case 1:
        return code.number<int8_t>();
    case 2:
        return code.number<int32_t>();
    }
    return std::nullopt;
}

bool take(ByteCursor& code, std::initializer_list<uint8_t> bytes) {
    return std::ranges::all_of(bytes, [&](uint8_t byte) { return code.byte() == byte; });
}

// The thread's g into rax. In a position-independent program its place goes to rcx first.
struct ThreadPlace {
    int32_t offset;
    bool in_register;
};
std::optional<ThreadPlace> take_thread_load(Bytes& code) {
    ByteCursor plain(code), by_register(code);
    if (take(plain, {0x64, 0x48, 0x8b, 0x04, 0x25})) {
        const ThreadPlace place{plain.number<int32_t>(), false};
        code = plain.rest();
        return place;
    }
    if (take(by_register, {0x48, 0xc7, 0xc1})) {
        const ThreadPlace place{by_register.number<int32_t>(), true};
        if (take(by_register, {0x64, 0x48, 0x8b, 0x01})) {
            code = by_register.rest();
            return place;
        }
    }
    return std::nullopt;
}

bool take_thread_store(ByteCursor& code, const ThreadPlace& place) {
    if (place.in_register)
        return take(code, {0x64, 0x48, 0x89, 0x01});
    return take(code, {0x64, 0x48, 0x89, 0x04, 0x25}) && code.number<int32_t>() == place.offset;
}

struct WayBack {
    wire_go_runtime runtime;
    size_t restored; // bytes from the begin: the stack pointer is the goroutine's again
};

// As runtime.systemstack finds its goroutine when the function that it has called on the
// scheduler's stack (call *%rdi) has returned.
std::optional<WayBack> way_back(Bytes systemstack) {
    constexpr unsigned rax = 0, rbx = 3, rsp = 4;
    for (size_t at = 0; at + 2 <= systemstack.size(); at++) {
        if (static_cast<uint8_t>(systemstack[at]) != 0xff ||
            static_cast<uint8_t>(systemstack[at + 1]) != 0xd7)
            continue;
        Bytes behind = systemstack.subspan(at + 2);
        const auto place = take_thread_load(behind);
        if (!place)
            continue;
        ByteCursor code(behind);
        const auto machine = take_load(code, rax, rbx);
        const auto goroutine = take_load(code, rbx, rax);
        if (!take_thread_store(code, *place))
            continue;
        const auto stack = take_load(code, rax, rsp);
        const auto fits = [](std::optional<int32_t> offset) {
            return offset && *offset >= 0 && *offset <= std::numeric_limits<int16_t>::max();
        };
        if (code.failed() || !fits(machine) || !fits(goroutine) || !fits(stack))
            continue;
        wire_go_runtime runtime = {};
        runtime.thread_g = place->offset;
        runtime.g_m = static_cast<uint16_t>(*machine);
        runtime.m_curg = static_cast<uint16_t>(*goroutine);
        runtime.g_saved_sp = static_cast<uint16_t>(*stack);
        return WayBack{runtime, systemstack.size() - code.rest().size()};
    }
    return std::nullopt;
}

const GoFunction* systemstack_of(const ElfFile& file) {
    const GoTable* table = file.go_table();
    return table ? table->named("runtime.systemstack") : nullptr;
}

std::optional<WayBack> way_back_of(const ElfFile& file, const GoFunction& systemstack) {
    return way_back(file.read_code(systemstack.begin,
                                   std::min(systemstack.end - systemstack.begin, largest_switch)));
}

} // namespace

std::optional<wire_go_runtime> read_go_runtime(const ElfFile& file) {
    const GoFunction* function = systemstack_of(file);
    const auto way = function ? way_back_of(file, *function) : std::nullopt;
    return way ? std::optional(way->runtime) : std::nullopt;
}

std::optional<uint64_t> address_back_on_goroutine(const ElfFile& file) {
    const GoFunction* function = systemstack_of(file);
    const auto way = function ? way_back_of(file, *function) : std::nullopt;
    return way ? std::optional(function->begin + way->restored) : std::nullopt;
}

// The argument (rax) is stored there by mov %rax,DISPLACEMENT(REGISTER). The register is r14, which
// holds the g, or has it from memory (since Go 1.21): then what stood there is read through r14,
// for the collector of garbage.
std::optional<uint16_t> go_labels_offset(Bytes setter) {
    constexpr uint8_t store = 0x89, load = 0x8b, r14 = 6, with_index = 4;
    std::set<int32_t> stored, of_g;
    for (size_t at = 0; at < setter.size(); at++) {
        ByteCursor code(setter.subspan(at));
        const uint8_t prefix = code.byte(), operation = code.byte(), operands = code.byte();
        const uint8_t base = operands & 7;
        if ((prefix & 0xfa) != 0x48 || (operation != store && operation != load) ||
            operands >> 6 != 2 || base == with_index)
            continue;
        const auto displacement = code.number<int32_t>();
        if (code.failed())
            break;
        const bool is_extended = prefix & 1, is_rax = !(prefix & 4) && !(operands & 0x38);
        if (operation == store && is_rax)
            stored.insert(displacement);
        if (is_extended && base == r14)
            of_g.insert(displacement);
    }
    if (stored.size() != 1 || stored != of_g)
        return std::nullopt;
    const int32_t offset = *stored.begin();
    return offset > 0 && offset <= std::numeric_limits<int16_t>::max() && offset % 8 == 0
               ? std::optional(static_cast<uint16_t>(offset))
               : std::nullopt;
}

// lock cmpxchg %REGISTER,DISPLACEMENT(%REGISTER), of which there is one.
std::optional<uint16_t> go_id_offset(Bytes status_changer) {
    constexpr uint8_t lock = 0xf0, with_index = 4, to_id = 8;
    constexpr int32_t most = std::numeric_limits<int16_t>::max();
    std::set<int32_t> found;
    for (size_t at = 0; at < status_changer.size(); at++) {
        ByteCursor code(status_changer.subspan(at));
        if (code.byte() != lock)
            continue;
        uint8_t prefix = code.byte();
        if ((prefix & 0xf8) == 0x40) // of 32 bits
            prefix = code.byte();
        if (prefix != 0x0f || code.byte() != 0xb1)
            continue;
        const uint8_t operands = code.byte();
        const int32_t displacement = operands >> 6 == 1   ? code.number<int8_t>()
                                     : operands >> 6 == 2 ? code.number<int32_t>()
                                                          : 0;
        if (code.failed() || (operands & 7) == with_index || displacement <= 0 ||
            displacement > most - to_id || displacement % 8)
            return std::nullopt;
        found.insert(displacement);
    }
    return found.size() == 1 ? std::optional(static_cast<uint16_t>(*found.begin() + to_id))
                             : std::nullopt;
}

// cmp DISPLACEMENT(%r14),%rsp: r14 holds the g, in which the stack's guard stands.
bool has_register_arguments(const ElfFile& file, const GoFunction& function) {
    const std::vector<std::byte> code = file.read_code(function.begin, 4);
    ByteCursor begin(code);
    return take(begin, {0x49, 0x3b, 0x66}) && !begin.failed();
}

bool is_go_code(const ElfFile& file, uint64_t address) {
    const GoTable* table = file.go_table();
    return table && table->containing(address);
}

} // namespace auger
