// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/stack_walk.h"

#include "loader/arch/arch.h"

#include ARCH(dwarf_register.h)
#include ARCH(machine.h)

#include <cstring>

namespace auger {

namespace {

class Walk {
  public:
    Walk(const StackFrame& frame, StackPiece stack, const FindRule& find)
        : frame_(frame), stack_(stack), find_(find) {}

    // Appends the callers, until there are `most` frames, and where each begins. Returns why it
    // ended.
    wire_unwind_stop append_callers(size_t most, std::vector<uint64_t>& frames,
                                    std::vector<uint64_t>* begins = nullptr);

  private:
    // To the caller. WIRE_STOPS: there is one.
    wire_unwind_stop step();
    wire_unwind_stop step_by_rule(const wire_unwind_rule& rule);
    wire_unwind_stop step_over_signal();
    wire_unwind_stop enter_caller(uint64_t return_address, uint64_t sp, bool by_register = false);

    std::optional<uint64_t> register_value(uint8_t number);
    bool read(uint64_t address, uint64_t& value);

    StackFrame frame_;
    StackPiece stack_;
    const FindRule& find_;
};

bool Walk::read(uint64_t address, uint64_t& value) {
    const auto word = stack_.word(address);
    value = word.value_or(value);
    return word.has_value();
}

std::optional<uint64_t> Walk::register_value(uint8_t number) {
    if (number == register_stack)
        return frame_.sp;
    if (number == register_frame)
        return frame_.bp;
    if (number == register_kept && frame_.bx_state == WIRE_RBX_VALUE)
        return frame_.bx;
    if (number == register_kept && frame_.bx_state == WIRE_RBX_MEMORY)
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

wire_unwind_stop Walk::enter_caller(uint64_t return_address, uint64_t sp, bool by_register) {
    // Where the return address is in a register (vfork), nothing may have been pushed.
    if (by_register ? sp < frame_.sp : sp <= frame_.sp)
        return WIRE_STOP_STUCK;
    frame_.ip = return_address;
    frame_.sp = sp;
    frame_.exact = false;
    return frame_.ip ? WIRE_STOPS : WIRE_STOP_END;
}

wire_unwind_stop Walk::step_by_rule(const wire_unwind_rule& rule) {
    if (rule.cfa == WIRE_CFA_END)
        return WIRE_STOP_END;
    if (rule.cfa == WIRE_CFA_SIGNAL)
        return step_over_signal();
    if (rule.cfa == WIRE_CFA_GOROUTINE || rule.cfa == WIRE_CFA_OTHER_STACK)
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
    const bool by_register = rule.return_kind == WIRE_RETURN_REGISTER;
    if (by_register) {
        const auto value = register_value(rule.return_register);
        if (!value)
            return WIRE_STOP_UNSUPPORTED;
        return_address = *value;
    }
    const auto saved = [&](uint64_t from, int16_t offset) {
        return from + 8 * static_cast<int64_t>(offset);
    };
    // From lower to higher addresses, as a process's memory is read best.
    if (rule.rbp_saved == WIRE_SAVED_LOST) {
        frame_.bp = 0;
    } else if (rule.rbp_saved == WIRE_SAVED_AT_CFA ||
               (rule.rbp_saved == WIRE_SAVED_AT_RBP && bp >= frame_.sp && bp < cfa)) {
        const uint64_t from = rule.rbp_saved == WIRE_SAVED_AT_CFA ? cfa : bp;
        if (!read(saved(from, rule.rbp_offset), frame_.bp))
            return WIRE_STOP_UNREADABLE;
    }
    if (!by_register && !read(cfa - sizeof(uint64_t), return_address))
        return WIRE_STOP_UNREADABLE;
    if (rule.rbx_saved == WIRE_SAVED_LOST) {
        frame_.bx_state = WIRE_RBX_LOST;
    } else if (rule.rbx_saved != WIRE_SAVED_NOT) {
        frame_.bx = saved(rule.rbx_saved == WIRE_SAVED_AT_CFA ? cfa : bp, rule.rbx_offset);
        frame_.bx_state = WIRE_RBX_MEMORY;
    }
    return enter_caller(return_address, cfa, by_register);
}

wire_unwind_stop Walk::step() {
    const RuleAnswer answer = find_(frame_.exact ? frame_.ip : frame_.ip - 1);
    if (answer.stop == WIRE_STOPS)
        return step_by_rule(answer.rule);
    if (answer.stop != WIRE_STOP_NO_TABLE)
        return answer.stop;
    return !frame_.exact && !frame_.bp ? WIRE_STOP_END : WIRE_STOP_NO_TABLE;
}

wire_unwind_stop Walk::append_callers(size_t most, std::vector<uint64_t>& frames,
                                      std::vector<uint64_t>* begins) {
    for (;;) {
        if (const wire_unwind_stop stop = step(); stop != WIRE_STOPS)
            return stop;
        if (frame_.ip >> user_address_bits)
            return WIRE_STOP_STUCK;
        if (frames.size() >= most)
            return WIRE_STOP_DEPTH;
        frames.push_back(frame_.ip | (frame_.exact ? WIRE_FRAME_EXACT : 0));
        if (begins)
            begins->push_back(frame_.sp);
    }
}

} // namespace

std::optional<uint64_t> StackPiece::word(uint64_t address) {
    uint64_t value;
    if (address < start_ || bytes_.size() < sizeof(value) ||
        address - start_ > bytes_.size() - sizeof(value))
        return {};
    std::memcpy(&value, bytes_.data() + (address - start_), sizeof(value));
    return value;
}

wire_unwind_stop walk_copied_stack(const StackFrame& frame, StackPiece stack, const FindRule& find,
                                   size_t most, std::vector<uint64_t>& frames,
                                   std::vector<uint64_t>* begins) {
    return Walk(frame, stack, find).append_callers(most, frames, begins);
}

std::vector<uint64_t> read_stack(const StackFrame& leaf, StackPiece stack, const FindRule& find,
                                 size_t most) {
    // A frame's flags stand above addresses.
    if (leaf.ip >> user_address_bits)
        return {WIRE_STACK_CUT | WIRE_STOP_STUCK};
    std::vector<uint64_t> frames = {leaf.ip};
    const wire_unwind_stop stop = walk_copied_stack(leaf, stack, find, most, frames);
    if (stop != WIRE_STOP_END)
        frames.push_back(WIRE_STACK_CUT | stop);
    return frames;
}

} // namespace auger
