// SPDX-License-Identifier: GPL-3.0-or-later
// Go's functions find their callers by the stack pointer alone, but for a few of the runtime that
// change stacks. Those are followed instruction by instruction; where they are on another stack
// than their callers, a frame pointer may still lead back, or the goroutine has left its stack
// pointer in memory.
#include "loader/unwind/go_frames.h"

#include "loader/code/decoder.h"
#include "loader/unwind/byte_cursor.h"
#include "loader/unwind/code_frames.h"

#include <algorithm>
#include <limits>

namespace auger {
namespace {

constexpr uint64_t largest_switch = 4096; // bytes of a function that changes stacks
constexpr int64_t deepest = 1 << 30;

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

// From a thread to the stack pointer that its goroutine has left, as runtime.systemstack finds it
// when the function that it has called on the scheduler's stack (call *%rdi) has returned.
std::optional<wire_unwind_rule> goroutine_rule(Bytes systemstack) {
    constexpr unsigned rax = 0, rbx = 3, rsp = 4;
    for (size_t at = 0; at + 2 <= systemstack.size(); at++) {
        ByteCursor code(systemstack.subspan(at));
        if (!take(code, {0xff, 0xd7}) || !take(code, {0x64, 0x48, 0x8b, 0x04, 0x25}))
            continue;
        const auto of_thread = code.number<int32_t>();
        const auto machine = take_load(code, rax, rbx);
        const auto goroutine = take_load(code, rbx, rax);
        if (!take(code, {0x64, 0x48, 0x89, 0x04, 0x25}) || code.number<int32_t>() != of_thread)
            continue;
        const auto stack = take_load(code, rax, rsp);
        const auto fits = [](std::optional<int32_t> offset) {
            return offset && *offset >= 0 && *offset <= std::numeric_limits<int16_t>::max();
        };
        if (code.failed() || !fits(machine) || !fits(goroutine) || !fits(stack))
            continue;
        wire_unwind_rule rule = wire_rule(WIRE_CFA_GOROUTINE);
        rule.offset = of_thread;
        rule.rbx_offset = static_cast<int16_t>(*machine);
        rule.rbp_offset = static_cast<int16_t>(*goroutine);
        rule.addend = static_cast<int16_t>(*stack);
        rule.rbx_saved = WIRE_SAVED_LOST;
        return rule;
    }
    return std::nullopt;
}

// The caller's rbp is in the frame as soon as rbp points into it.
wire_unwind_rule rule_at_depth(int64_t depth) {
    if (depth < 0 || depth > deepest)
        return wire_rule(WIRE_CFA_UNSUPPORTED);
    wire_unwind_rule rule = wire_rule(WIRE_CFA_REGISTER);
    rule.cfa_register = register_rsp;
    rule.offset = static_cast<int32_t>(depth + 8);
    rule.rbp_saved = WIRE_SAVED_AT_RBP;
    rule.rbx_saved = WIRE_SAVED_LOST;
    return rule;
}

class GoFrames {
  public:
    GoFrames(const ElfFile& file, const GoTable& table) : file_(file), table_(table) {
        for (const GoFunction& function : table.functions())
            if (function.name == "runtime.systemstack")
                goroutine_ = goroutine_rule(code_of(function));
    }

    std::vector<FrameRow> rows_of(const GoFunction& function) const {
        // The kernel calls handlers of signals, and has them return to another function: behind
        // them lies what was interrupted.
        if (function.outermost && !function.name.starts_with("runtime.sigtramp"))
            return {{function.begin, wire_rule(WIRE_CFA_END)}};
        if (function.name.starts_with("runtime.sigreturn"))
            return {{function.begin - 1, wire_rule(WIRE_CFA_SIGNAL)}};
        if (function.changes_sp)
            return rows_of_switch(function);
        std::vector<FrameRow> rows;
        for (const GoStackRow& row : table_.stack_rows(function))
            rows.push_back({row.address, rule_at_depth(row.depth)});
        return rows;
    }

  private:
    std::vector<std::byte> code_of(const GoFunction& function) const {
        return file_.read_code(function.begin,
                               std::min(function.end - function.begin, largest_switch));
    }
    std::vector<FrameRow> rows_of_switch(const GoFunction& function) const {
        const std::vector<std::byte> code = code_of(function);
        CodeFrames frames = frames_of_code(code, function.begin);
        const uint64_t end_of_way = first_return(code, function.begin);
        for (FrameRow& row : frames.rows) {
            if (row.rule.cfa == WIRE_CFA_NONE)
                row.rule = rule_after_switch(function.name, row.address < end_of_way);
            else if (row.rule.cfa == WIRE_CFA_REGISTER && row.rule.cfa_register == register_rbp)
                row.rule.cfa = WIRE_CFA_OTHER_STACK;
        }
        return std::move(frames.rows);
    }
    static uint64_t first_return(Bytes code, uint64_t address) {
        for (size_t at = 0; at < code.size();) {
            const auto instruction = decode(code.subspan(at), address + at);
            if (!instruction || instruction->flow == Instruction::Flow::ret)
                return address + at;
            at += instruction->length;
        }
        return address + code.size();
    }
    // `on_first_way`: behind the function's first return it has been called by the scheduler.
    wire_unwind_rule rule_after_switch(std::string_view function, bool on_first_way) const {
        if (function == "runtime.mcall") // its caller waits; the scheduler is at work
            return wire_rule(WIRE_CFA_END);
        if (!goroutine_ || !on_first_way)
            return wire_rule(WIRE_CFA_UNSUPPORTED);
        wire_unwind_rule rule = *goroutine_;
        // The goroutine has left the place of the return address in these, ...
        if (function == "runtime.systemstack" || function == "runtime.asmcgocall")
            rule.return_kind = WIRE_RETURN_AT_CFA;
        // ... and here, as it may get another stack meanwhile, the address itself.
        else if (function == "runtime.morestack")
            rule.return_kind = WIRE_RETURN_GOROUTINE;
        else
            return wire_rule(WIRE_CFA_UNSUPPORTED);
        return rule;
    }

    const ElfFile& file_;
    const GoTable& table_;
    std::optional<wire_unwind_rule> goroutine_;
};

} // namespace

uint64_t add_go_functions(const ElfFile& file, TableBuilder& builder) {
    const GoTable* table = file.go_table();
    if (!table)
        return 0;
    const GoFrames frames(file, *table);
    uint64_t added = 0;
    for (const GoFunction& function : table->functions()) {
        const std::vector<FrameRow> rows = frames.rows_of(function);
        if (!rows.empty() && builder.holds(rows.front().address, function.end) &&
            builder.add(rows.front().address, function.end, rows))
            added++;
    }
    return added;
}

} // namespace auger
