// SPDX-License-Identifier: GPL-3.0-or-later
// Go's functions find their callers by the stack pointer alone, but for a few of the runtime that
// change stacks. Those are followed instruction by instruction; where they are on another stack
// than their callers, a frame pointer may still lead back, or the goroutine has left its stack
// pointer in memory.
#include "loader/reader/tables/go_frames.h"

#include "loader/reader/code/decoder.h"
#include "loader/reader/tables/code_frames.h"
#include "loader/reader/tables/go_runtime.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace auger {
namespace {

constexpr uint64_t largest_switch = 4096; // bytes of a function that changes stacks
constexpr int64_t deepest = 1 << 30;

// To the stack pointer that a thread's goroutine has left.
wire_unwind_rule goroutine_rule(const wire_go_runtime& runtime) {
    wire_unwind_rule rule = wire_rule(WIRE_CFA_GOROUTINE);
    rule.offset = runtime.thread_g;
    rule.rbx_offset = static_cast<int16_t>(runtime.g_m);
    rule.rbp_offset = static_cast<int16_t>(runtime.m_curg);
    rule.addend = static_cast<int16_t>(runtime.g_saved_sp);
    rule.rbx_saved = WIRE_SAVED_LOST;
    return rule;
}

// The caller's rbp is in the frame as soon as rbp points into it.
wire_unwind_rule rule_at_depth(int64_t depth) {
    if (depth < 0 || depth > deepest)
        return wire_rule(WIRE_CFA_UNSUPPORTED);
    wire_unwind_rule rule = wire_rule(WIRE_CFA_REGISTER);
    rule.cfa_register = register_stack;
    rule.offset = static_cast<int32_t>(depth + 8);
    rule.rbp_saved = WIRE_SAVED_AT_RBP;
    rule.rbx_saved = WIRE_SAVED_LOST;
    return rule;
}

// A stack pointer that code keeps in its frame, at the new one's + offset: behind which instruction
// it is there, and behind which it is the stack pointer again.
struct KeptStackPointer {
    int32_t offset;
    uint64_t stored, restored;
};

// By mov REGISTER, OFFSET(%rsp); ...; mov OFFSET(%rsp), OTHER; mov OTHER, %rsp
std::optional<KeptStackPointer> kept_stack_pointer(Bytes code, uint64_t address) {
    std::vector<Instruction> all;
    for (size_t at = 0; at < code.size(); at += all.back().length) {
        const auto instruction = decode(code.subspan(at), address + at);
        if (!instruction || instruction->flow == Instruction::Flow::ret)
            break;
        all.push_back(*instruction);
    }
    const auto end_of = [](const Instruction& one) { return one.address + one.length; };
    for (size_t i = 0; i + 1 < all.size(); i++) {
        const Instruction &load = all[i], &restore = all[i + 1];
        if (load.move != Instruction::Move::load || !restore.moves_stack ||
            restore.flow != Instruction::Flow::next || restore.written != load.base ||
            load.displacement > largest_switch)
            continue;
        const auto store = std::ranges::find_if(
            all.begin(), all.begin() + static_cast<ptrdiff_t>(i), [&](const Instruction& one) {
                return one.memory && one.base == load.base && one.displacement == load.displacement;
            });
        if (store == all.begin() + static_cast<ptrdiff_t>(i))
            return std::nullopt;
        return KeptStackPointer{static_cast<int32_t>(load.displacement), end_of(*store),
                                end_of(restore)};
    }
    return std::nullopt;
}

class GoFrames {
  public:
    GoFrames(const ElfFile& file, const GoTable& table) : file_(file), table_(table) {
        if (const auto runtime = read_go_runtime(file))
            goroutine_ = goroutine_rule(*runtime);
        back_ = address_back_on_goroutine(file);
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
            else if (row.rule.cfa == WIRE_CFA_REGISTER && row.rule.cfa_register == register_frame)
                row.rule.cfa = WIRE_CFA_OTHER_STACK;
        }
        if (back_ && *back_ >= function.begin && *back_ <= end_of_way)
            set_rule(frames.rows, {*back_, rule_at_depth(0)}, end_of_way + 1, function.end);
        if (function.name == "runtime.asmcgocall" && end_of_way < function.end)
            add_rows_of_system_stack(frames.rows, code, end_of_way + 1, function);
        return std::move(frames.rows);
    }
    // Of asmcgocall's way for who is on the system's stack already: it aligns the stack pointer,
    // puts what it was into the frame, and takes it from there when the call has returned.
    static void add_rows_of_system_stack(std::vector<FrameRow>& rows, Bytes code, uint64_t begin,
                                         const GoFunction& function) {
        const auto kept = kept_stack_pointer(code.subspan(begin - function.begin), begin);
        if (!kept)
            return;
        wire_unwind_rule rule = rule_at_depth(0);
        rule.cfa = WIRE_CFA_MEMORY;
        rule.addend = 8;
        rule.offset = kept->offset;
        set_rule(rows, {kept->stored, rule}, kept->restored, function.end);
        set_rule(rows, {kept->restored, rule_at_depth(0)}, function.end, function.end);
    }
    // The row's rule holds up to `end`. What comes behind stays.
    static void set_rule(std::vector<FrameRow>& rows, const FrameRow& row, uint64_t end,
                         uint64_t function_end) {
        const auto behind = std::ranges::upper_bound(rows, end, {}, &FrameRow::address);
        if (behind == rows.begin())
            return;
        const FrameRow last{end, std::prev(behind)->rule};
        const auto first = std::ranges::lower_bound(rows, row.address, {}, &FrameRow::address);
        auto at = rows.erase(first, behind);
        at = std::next(rows.insert(at, row));
        if (end < function_end)
            rows.insert(at, last);
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
    std::optional<uint64_t> back_; // see address_back_on_goroutine()
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
            builder.add(rows.front().address, function.end, rows, TableBuilder::Source::runtime))
            added++;
    }
    return added;
}

} // namespace auger
