// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/stack_walk.h"

#include <cstring>

namespace auger {

namespace {

// Of the frame that a signal's handler returns to, in the ucontext that the kernel leaves.
constexpr uint64_t ucontext_rbp = 120, ucontext_rbx = 128, ucontext_rsp = 160, ucontext_rip = 168;
constexpr int user_address_bits = 56;
constexpr uint8_t dwarf_rbx = 3, dwarf_rbp = 6, dwarf_rsp = 7;

class Walk {
  public:
    Walk(const StackFrame& frame, const StackPiece& stack) : frame_(frame), stack_(stack) {}

    const StackFrame& frame() const { return frame_; }
    // To the caller. WIRE_STOPS: there is one.
    wire_unwind_stop step(const wire_unwind_rule& rule);

  private:
    std::optional<uint64_t> register_value(uint8_t number) const;
    wire_unwind_stop step_over_signal();
    bool read(uint64_t address, uint64_t& value) const;

    StackFrame frame_;
    const StackPiece& stack_;
};

bool Walk::read(uint64_t address, uint64_t& value) const {
    const auto word = stack_.word(address);
    value = word.value_or(value);
    return word.has_value();
}

std::optional<uint64_t> Walk::register_value(uint8_t number) const {
    if (number == dwarf_rsp)
        return frame_.sp;
    if (number == dwarf_rbp)
        return frame_.bp;
    if (number == dwarf_rbx && frame_.bx_state == WIRE_RBX_VALUE)
        return frame_.bx;
    if (number == dwarf_rbx && frame_.bx_state == WIRE_RBX_MEMORY)
        return stack_.word(frame_.bx);
    return {};
}

wire_unwind_stop Walk::step_over_signal() {
    const uint64_t context = frame_.sp;
    if (!read(context + ucontext_rip, frame_.ip) || !read(context + ucontext_rsp, frame_.sp) ||
        !read(context + ucontext_rbp, frame_.bp))
        return WIRE_STOP_UNREADABLE;
    frame_.bx = context + ucontext_rbx;
    frame_.bx_state = WIRE_RBX_MEMORY;
    frame_.exact = true;
    return frame_.ip ? WIRE_STOPS : WIRE_STOP_STUCK;
}

wire_unwind_stop Walk::step(const wire_unwind_rule& rule) {
    if (rule.cfa == WIRE_CFA_END)
        return WIRE_STOP_END;
    if (rule.cfa == WIRE_CFA_SIGNAL)
        return step_over_signal();
    // Only one stack was copied.
    if (rule.cfa == WIRE_CFA_OTHER_STACK || rule.cfa == WIRE_CFA_GOROUTINE)
        return WIRE_STOP_UNREADABLE;
    const auto base = register_value(rule.cfa_register);
    if (rule.cfa == WIRE_CFA_UNSUPPORTED || !base)
        return WIRE_STOP_UNSUPPORTED;
    uint64_t cfa = *base + static_cast<int64_t>(rule.offset);
    if (rule.cfa == WIRE_CFA_MEMORY) {
        if (!read(cfa, cfa))
            return WIRE_STOP_UNREADABLE;
        cfa += static_cast<int64_t>(rule.addend);
    } else if (rule.cfa == WIRE_CFA_PLT && (frame_.ip & 15) >= static_cast<uint32_t>(rule.addend)) {
        cfa += sizeof(uint64_t);
    }
    const uint64_t bp = frame_.bp;
    uint64_t return_address = 0;
    if (rule.return_kind == WIRE_RETURN_REGISTER) {
        const auto value = register_value(rule.return_register);
        if (!value)
            return WIRE_STOP_UNSUPPORTED;
        return_address = *value;
    } else if (!read(cfa - sizeof(uint64_t), return_address)) {
        return WIRE_STOP_UNREADABLE;
    }
    const auto saved = [&](uint64_t from, int16_t offset) {
        return from + 8 * static_cast<int64_t>(offset);
    };
    if (rule.rbp_saved == WIRE_SAVED_LOST) {
        frame_.bp = 0;
    } else if (rule.rbp_saved == WIRE_SAVED_AT_CFA ||
               (rule.rbp_saved == WIRE_SAVED_AT_RBP && bp >= frame_.sp && bp < cfa)) {
        const uint64_t from = rule.rbp_saved == WIRE_SAVED_AT_CFA ? cfa : bp;
        if (!read(saved(from, rule.rbp_offset), frame_.bp))
            return WIRE_STOP_UNREADABLE;
    }
    if (rule.rbx_saved == WIRE_SAVED_LOST) {
        frame_.bx_state = WIRE_RBX_LOST;
    } else if (rule.rbx_saved != WIRE_SAVED_NOT) {
        frame_.bx = saved(rule.rbx_saved == WIRE_SAVED_AT_CFA ? cfa : bp, rule.rbx_offset);
        frame_.bx_state = WIRE_RBX_MEMORY;
    }
    if (rule.return_kind == WIRE_RETURN_REGISTER ? cfa < frame_.sp : cfa <= frame_.sp)
        return WIRE_STOP_STUCK;
    frame_.ip = return_address;
    frame_.sp = cfa;
    frame_.exact = false;
    return frame_.ip ? WIRE_STOPS : WIRE_STOP_END;
}

} // namespace

std::optional<uint64_t> StackPiece::word(uint64_t address) const {
    uint64_t value;
    if (address < start || bytes.size() < sizeof(value) ||
        address - start > bytes.size() - sizeof(value))
        return {};
    std::memcpy(&value, bytes.data() + (address - start), sizeof(value));
    return value;
}

wire_unwind_stop walk_copied_stack(StackFrame frame, const StackPiece& stack, const FindRule& find,
                                   size_t most, std::vector<uint64_t>& frames) {
    Walk walk(frame, stack);
    for (;;) {
        const StackFrame& here = walk.frame();
        const RuleAnswer answer = find(here.exact ? here.ip : here.ip - 1);
        // By convention, of the outermost frame; code of the program's start has no rules at times.
        if (answer.stop == WIRE_STOP_NO_TABLE && !here.exact && !here.bp)
            return WIRE_STOP_END;
        if (answer.stop != WIRE_STOPS)
            return answer.stop;
        if (const wire_unwind_stop stop = walk.step(answer.rule); stop != WIRE_STOPS)
            return stop;
        if (here.ip >> user_address_bits)
            return WIRE_STOP_STUCK;
        if (frames.size() >= most)
            return WIRE_STOP_DEPTH;
        frames.push_back(here.ip | (here.exact ? WIRE_FRAME_EXACT : 0));
    }
}

} // namespace auger
