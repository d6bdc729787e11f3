// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/perl/statement.h"

#include "bpf/wire/perl.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace auger {
namespace {

// struct op, of all versions known.
constexpr uint64_t op_sibling = 8, op_target = 24, op_bits = 32, op_flags = 34, op_first = 40;
constexpr uint16_t op_type = 0x1ff, has_sibling = 0x4000;
constexpr uint8_t has_kids = 4;
constexpr uint16_t null_type = 0; // of an op that is executed no more; its target says what it was

constexpr size_t most_ops = 512, most_depth = 256; // of one statement, that are looked at

struct Op {
    uint64_t next = 0, sibling = 0, target = 0, first = 0;
    uint16_t type = null_type;
};

std::optional<Op> read_op(BoundedMemory& memory, uint64_t address) {
    Op op;
    uint16_t bits = 0;
    uint8_t flags = 0;
    if (!memory.get(address + WIRE_PERL_OP_NEXT, op.next) ||
        !memory.get(address + op_sibling, op.sibling) ||
        !memory.get(address + op_target, op.target) || !memory.get(address + op_bits, bits) ||
        !memory.get(address + op_flags, flags) ||
        (flags & has_kids && !memory.get(address + op_first, op.first)))
        return std::nullopt;
    op.type = bits & op_type;
    if (!(bits & has_sibling))
        op.sibling = 0;
    return op;
}

} // namespace

uint64_t closest_statement(BoundedMemory& memory, const PerlOps& ops, uint64_t cop, uint64_t wanted,
                           bool is_next) {
    const auto statement = wanted ? read_op(memory, cop) : std::nullopt;
    if (!statement)
        return cop;
    // The next op of each level, and the statement that was seen last in it.
    struct Level {
        uint64_t op, statement;
        bool is_kid; // of another op
    };
    std::vector<Level> levels = {{statement->sibling, cop, false}};
    for (size_t seen = 0; seen < most_ops && !levels.empty(); seen++) {
        Level& level = levels.back();
        if (!level.op) {
            levels.pop_back();
            continue;
        }
        const uint64_t address = level.op;
        const auto op = read_op(memory, address);
        if (!op)
            return cop;
        if (level.is_kid && op->type == null_type && op->target == ops.statement)
            level.statement = address;
        if (is_next ? op->next == wanted && op->type != ops.scope : address == wanted)
            return level.statement;
        // What is beside the tree belongs to other statements.
        level.op = level.is_kid ? op->sibling : 0;
        if (op->first && levels.size() < most_depth)
            levels.push_back({op->first, level.statement, true});
    }
    return cop;
}

} // namespace auger
