// SPDX-License-Identifier: GPL-3.0-or-later
// A state is carried from instruction to instruction along all ways through the function. The first
// that reaches an instruction is kept: compilers see to it that all are equal.
#include "loader/reader/tables/code_frames.h"

#include "loader/arch/arch.h"
#include "loader/reader/code/decoder.h"
#include "loader/reader/tables/code_state.h"

#include ARCH(code_bytes.h)

#include <cstring>

namespace auger {
namespace {

using Flow = Instruction::Flow;

constexpr uint64_t largest_padding = 16; // bytes

class Analysis {
  public:
    Analysis(Bytes code, uint64_t address) : address_(address), index_of_(code.size(), none) {
        for (size_t at = 0; at < code.size();) {
            const auto instruction = decode(code.subspan(at), address + at);
            if (!instruction)
                break;
            index_of_[at] = static_cast<uint32_t>(instructions_.size());
            instructions_.push_back(*instruction);
            effects_.push_back(stack_effect(code.subspan(at), address + at));
            at += instruction->length;
        }
        states_.resize(instructions_.size());
        reached_.resize(instructions_.size());
    }

    CodeFrames run() {
        reach(0, CodeState());
        follow();
        reach_through_tables();
        return result();
    }

  private:
    static constexpr uint32_t none = ~uint32_t{0};

    // Null for an address in the middle of an instruction, or outside the function.
    uint32_t index_at(uint64_t address) const {
        return address - address_ < index_of_.size() ? index_of_[address - address_] : none;
    }
    void reach(uint32_t index, const CodeState& state) {
        if (index >= instructions_.size())
            return;
        if (reached_[index]) {
            // Two ways with two distances: a loop that pushes. Behind calls it means nothing, as
            // the call may not return.
            CodeState& known = states_[index];
            if (known.stack_known && known.stack != state.stack && !behind_call_) {
                known.stack_known = false;
                work_.push_back(index);
            }
            return;
        }
        reached_[index] = true;
        states_[index] = state;
        work_.push_back(index);
    }
    // What stands behind a call is looked at last: the call may be one that does not return.
    void follow() {
        while (!work_.empty() || !behind_calls_.empty()) {
            if (work_.empty()) {
                behind_call_ = true;
                const uint32_t index = behind_calls_.back();
                behind_calls_.pop_back();
                CodeState state = states_[index];
                state.apply(effects_[index]);
                reach(index + 1, state);
                continue;
            }
            const uint32_t index = work_.back();
            work_.pop_back();
            step(index);
        }
    }
    void step(uint32_t index) {
        const Instruction& instruction = instructions_[index];
        CodeState state = states_[index];
        state.apply(effects_[index]);
        if (effects_[index].code_pointer != 0)
            others_.push_back(effects_[index].code_pointer);
        switch (instruction.flow) {
        case Flow::ret:
        case Flow::stop:
            return;
        case Flow::call:
            if (instruction.target != 0)
                others_.push_back(instruction.target);
            behind_calls_.push_back(index);
            return;
        case Flow::jump:
        case Flow::conditional:
            if (const uint32_t target = index_at(instruction.target); target != none)
                reach(target, state);
            else if (instruction.target != 0 && state.as_at_begin())
                others_.push_back(instruction.target); // a tail call, not a cold part
            if (instruction.flow == Flow::jump)
                return;
            break;
        case Flow::next:
        case Flow::trap:
            break;
        }
        reach(index + 1, state);
    }
    // Code behind an indirect jump that nothing else leads to: what the jump's table leads to.
    void reach_through_tables() {
        const CodeState* at_jump = nullptr;
        for (uint32_t i = 0; i < instructions_.size(); ++i) {
            if (!reached_[i] && at_jump && !is_padding(i)) {
                reach(i, *at_jump);
                follow();
            }
            if (reached_[i] && instructions_[i].flow == Flow::jump && instructions_[i].indirect)
                at_jump = states_[i].stack > 8 || states_[i].frame_known ? &states_[i] : at_jump;
        }
    }
    // A nop, or what is not to be executed.
    bool is_padding(uint32_t index) const {
        return instructions_[index].flow == Flow::stop || instructions_[index].nop5 ||
               (effects_[index].kind == StackEffect::Kind::none &&
                instructions_[index].move == Instruction::Move::none &&
                instructions_[index].flow == Flow::next);
    }
    // The first instruction from here on that is reached, or the end.
    uint32_t next_reached(uint32_t index) const {
        while (index < instructions_.size() && !reached_[index])
            ++index;
        return index;
    }
    CodeFrames result() {
        CodeFrames frames{{}, address_, std::move(others_)};
        const auto add = [&](uint64_t address, const wire_unwind_rule& rule) {
            if (frames.rows.empty() ||
                std::memcmp(&frames.rows.back().rule, &rule, sizeof rule) != 0)
                frames.rows.push_back({address, rule});
        };
        for (uint32_t i = 0; i < instructions_.size();) {
            if (reached_[i]) {
                add(instructions_[i].address, states_[i].rule());
                frames.end = instructions_[i].address + instructions_[i].length;
                ++i;
                continue;
            }
            const uint32_t next = next_reached(i);
            if (next == instructions_.size())
                break;
            // What only fills up to the next instruction is worth no rows.
            if (instructions_[next].address - instructions_[i].address >= largest_padding)
                add(instructions_[i].address, wire_rule(WIRE_CFA_NONE));
            i = next;
        }
        return frames;
    }

    uint64_t address_;
    std::vector<uint32_t> index_of_; // by offset
    std::vector<Instruction> instructions_;
    std::vector<StackEffect> effects_;
    std::vector<CodeState> states_; // before the instruction
    std::vector<bool> reached_;
    std::vector<uint32_t> work_, behind_calls_;
    bool behind_call_ = false; // all that no call leads to has been reached
    std::vector<uint64_t> others_;
};

} // namespace

CodeFrames frames_of_code(Bytes code, uint64_t address) {
    if (returns_from_signal(code))
        return {{{address, wire_rule(WIRE_CFA_SIGNAL)}}, address + 1, {}};
    return Analysis(code, address).run();
}

} // namespace auger
