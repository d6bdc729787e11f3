// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/loader_values_machine.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace auger::test {
namespace {

// The low `bits` as a 64-bit number.
uint64_t extended(uint64_t value, unsigned bits, bool is_signed) {
    if (bits == 0 || bits >= 64)
        return value;
    value &= (uint64_t{1} << bits) - 1;
    if (is_signed && value >> (bits - 1))
        value |= ~uint64_t{0} << bits;
    return value;
}

bool compare(const wire_call_program& program, const wire_values& values,
             const wire_comparison& comparison) {
    const auto readable = [&](uint64_t index) { return values.readable >> index & 1; };
    if (!readable(comparison.value))
        return false;
    if (comparison.flags & WIRE_COMPARE_STRING) {
        const bool equal = std::memcmp(values.string[program.fetch[comparison.value].string],
                                       program.string[comparison.constant], WIRE_STRING) == 0;
        return equal == (comparison.operation == WIRE_EQUAL);
    }
    const uint64_t left = values.value[comparison.value];
    uint64_t right = comparison.constant;
    if (comparison.flags & WIRE_COMPARE_VALUES) {
        if (!readable(right))
            return false;
        right = values.value[right];
    }
    const bool less = comparison.flags & WIRE_COMPARE_SIGNED
                          ? static_cast<int64_t>(left) < static_cast<int64_t>(right)
                          : left < right;
    switch (comparison.operation) {
    case WIRE_EQUAL:
        return left == right;
    case WIRE_UNEQUAL:
        return left != right;
    case WIRE_LESS:
        return less;
    case WIRE_LESS_EQUAL:
        return less || left == right;
    case WIRE_GREATER:
        return !less && left != right;
    case WIRE_GREATER_EQUAL:
        return !less;
    case WIRE_BITS_SET:
        return left & right;
    case WIRE_BITS_CLEAR:
        return !(left & right);
    }
    return false;
}

using Wide = __int128; // the least number of 64 bits, divided by -1, has no room in them

// Nothing when one of the operands could not be read.
std::optional<uint64_t> compute(const wire_fetch& fetch, const wire_values& known) {
    const auto readable = [&](unsigned index) { return known.readable >> index & 1; };
    const bool alone = fetch.operand == WIRE_NO_VALUE;
    if (!readable(fetch.number) || (!alone && !readable(fetch.operand)))
        return std::nullopt;
    const uint64_t left = known.value[fetch.number];
    const uint64_t right = alone ? fetch.constant : fetch.constant * known.value[fetch.operand];
    switch (fetch.operation) {
    case WIRE_ADD:
        return left + right;
    case WIRE_SUBTRACT:
        return left - right;
    case WIRE_MULTIPLY:
        return left * right;
    case WIRE_AND:
        return left & right;
    case WIRE_OR:
        return left | right;
    case WIRE_SHIFT_LEFT:
        return left << (right % 64);
    case WIRE_SHIFT_RIGHT:
        return left >> (right % 64);
    case WIRE_SHIFT_RIGHT_SIGNED:
        return static_cast<uint64_t>(static_cast<int64_t>(left) >> (right % 64));
    case WIRE_DIVIDE:
        return right ? std::optional(left / right) : std::nullopt;
    case WIRE_MODULO:
        return right ? std::optional(left % right) : std::nullopt;
    case WIRE_DIVIDE_SIGNED:
        return right ? std::optional(static_cast<uint64_t>(Wide{static_cast<int64_t>(left)} /
                                                           static_cast<int64_t>(right)))
                     : std::nullopt;
    case WIRE_MODULO_SIGNED:
        return right ? std::optional(static_cast<uint64_t>(Wide{static_cast<int64_t>(left)} %
                                                           static_cast<int64_t>(right)))
                     : std::nullopt;
    }
    return std::nullopt;
}

} // namespace

bool Machine::fetch(const wire_fetch& fetch, const wire_values& known, uint64_t& value) const {
    const auto& registers = fetch.flags & WIRE_FETCH_AT_END ? at_end : at_entry;
    uint64_t at = fetch.base == WIRE_BASE_REGISTER   ? registers.at(fetch.number)
                  : fetch.base == WIRE_BASE_CFA      ? frame_address
                  : fetch.base == WIRE_BASE_CONSTANT ? fetch.constant
                  : fetch.base == WIRE_BASE_TASK     ? task.value_or(0)
                  : fetch.base == WIRE_BASE_CONTEXT  ? (context == Context::present ? span : 0)
                                                     : thread;
    if ((fetch.base == WIRE_BASE_TASK && !task) ||
        (fetch.base == WIRE_BASE_CONTEXT && context == Context::unreadable)) {
        value = 0;
        return false;
    }
    if (fetch.base == WIRE_BASE_COMPUTED) {
        const auto computed = compute(fetch, known);
        if (!computed)
            return false;
        at = *computed;
    }
    for (unsigned i = 0; i + 1 < fetch.offsets; ++i)
        if (!read(at + static_cast<int64_t>(fetch.offset[i]), &at, 8))
            return false;
    at += static_cast<int64_t>(fetch.offset[fetch.offsets - 1]);
    const bool string = fetch.flags & WIRE_FETCH_STRING;
    const unsigned size = string ? 8 : fetch.size;
    value = at;
    if (fetch.flags & WIRE_FETCH_IN_MEMORY) {
        value = 0;
        if (!read(at, &value, size))
            return false;
    }
    if (string)
        return true;
    const bool is_signed = fetch.flags & WIRE_FETCH_SIGNED;
    if (fetch.bit_size)
        value = extended(value >> fetch.bit_shift, fetch.bit_size, is_signed);
    else
        value = extended(value, 8 * size, is_signed);
    return true;
}

bool Machine::fetch_trace(const wire_fetch& fetch, wire_values& values, uint64_t& value) const {
    char* slot = values.string[fetch.string];
    std::memset(slot, 0, WIRE_STRING);
    value = context == Context::present;
    if (value)
        trace.copy(slot, WIRE_STRING - 1);
    return context != Context::unreadable;
}

bool Machine::fetch_go_label(const wire_fetch& fetch, wire_values& values, uint64_t& value) const {
    char* slot = values.string[fetch.string];
    std::memset(slot, 0, WIRE_STRING);
    value = 0;
    if (!go_labels)
        return false;
    const auto found = go_labels->find(std::string(fetch.key, fetch.size));
    value = found != go_labels->end();
    if (value)
        found->second.copy(slot, WIRE_STRING - 1);
    return true;
}

wire_values Machine::run(const wire_call_program& program) const {
    wire_values values{};
    for (unsigned i = 0; i < program.fetches; ++i) {
        const wire_fetch& wanted = program.fetch[i];
        if (wanted.base == WIRE_BASE_CONTEXT && (wanted.flags & WIRE_FETCH_STRING)) {
            const bool known = fetch_trace(wanted, values, values.value[i]);
            values.readable |= static_cast<uint32_t>(known) << i;
            continue;
        }
        if (wanted.base == WIRE_BASE_GO_LABEL) {
            const bool known = fetch_go_label(wanted, values, values.value[i]);
            values.readable |= static_cast<uint32_t>(known) << i;
            continue;
        }
        bool readable = fetch(wanted, values, values.value[i]);
        if (readable && (wanted.flags & WIRE_FETCH_COUNTED)) {
            char* slot = values.string[wanted.string];
            std::memset(slot, 0, WIRE_STRING);
            const size_t length = std::min<uint64_t>(values.value[wanted.length], WIRE_STRING - 1);
            readable = (values.readable >> wanted.length & 1) &&
                       (length == 0 || read(values.value[i], slot, length));
        } else if (readable && (wanted.flags & WIRE_FETCH_STRING)) {
            char* slot = values.string[wanted.string];
            size_t length = 0;
            for (; length + 1 < wanted.size; ++length) {
                readable = read(values.value[i] + length, slot + length, 1);
                if (!readable || !slot[length])
                    break;
            }
            std::memset(slot + length, 0, WIRE_STRING - length);
        }
        values.readable |= static_cast<uint32_t>(readable) << i;
    }
    return values;
}

std::optional<bool> Machine::holds(const wire_call_program& program, const wire_values& values,
                                   wire_predicate_use use) {
    const wire_predicate& predicate = program.predicate[use];
    if (predicate.clauses == 0)
        return std::nullopt;
    for (unsigned i = 0; i < predicate.clauses; ++i) {
        bool all = true;
        for (unsigned c = 0; c < WIRE_MAX_COMPARISONS; ++c)
            if (predicate.clause[i] >> c & 1)
                all = all && compare(program, values, program.comparison[c]);
        if (all)
            return true;
    }
    return false;
}

bool Memory::read(uint64_t address, void* to, size_t size) const {
    for (const Part& part : parts_)
        if (address >= part.address && address + size <= part.address + part.bytes.size()) {
            std::memcpy(to, part.bytes.data() + (address - part.address), size);
            return true;
        }
    return false;
}

bool read_own_memory(uint64_t address, void* to, size_t size) {
    iovec local{to, size}, remote{reinterpret_cast<void*>(address), size};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

} // namespace auger::test
