// SPDX-License-Identifier: GPL-3.0-or-later
// Most code only moves the stack pointer by constants, which a glance at each instruction tells.
// Where it gets the value of another register, that register is followed through the function: it
// must hold, on every way there, what was the stack pointer in this function before.
#include "loader/reader/code/stack_switch.h"

#include "loader/arch/arch.h"
#include "loader/reader/code/register_writes.h"

#include ARCH(code_bytes.h)
#include ARCH(machine.h)

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace auger {
namespace {

using Cause = StackSwitch::Cause;
using Kind = CodeToRead::Kind;
using Stack = RegisterWrites::Stack;
using Flow = Instruction::Flow;
using Found = std::optional<StackSwitch>;

// Registers that keep their values over a call, by the calling convention.
constexpr RegisterSet kept_over_calls = 1u << 3 | 1u << number_rsp | 1u << number_rbp | 0xf << 12;

bool is_all_padding(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, is_padding_byte);
}

// One range, decoded from its first byte to its last.
class Flowing {
  public:
    explicit Flowing(const CodeToRead& range) : range_(range) {}

    Found run();

  private:
    struct Step {
        uint64_t address;
        RegisterWrites does;
    };
    // Registers that hold an address in the stack that the code runs on. A place that was not
    // reached yet is all of them, and so is changed by whatever comes first.
    static constexpr uint32_t not_reached = 1u << 16;

    Found decode_all();
    size_t index_of(uint64_t address) const;
    bool inside(uint64_t address) const {
        return address - range_.code.address < range_.code.bytes.size();
    }
    void reach(size_t index, uint32_t own);
    void go_on_from(size_t index);
    void enter_unreached(uint32_t own);
    void follow();
    Found judge() const;
    Found judge_system_call(size_t index) const;

    const CodeToRead& range_;
    std::vector<Step> code_;
    std::vector<uint32_t> own_; // before each instruction
    std::vector<bool> landing_; // a direct jump leads there
    std::vector<size_t> pending_;
    std::vector<size_t> entered_; // of enter_unreached()
    uint32_t at_indirect_jumps_ = not_reached | 0xffff;
};

Found Flowing::decode_all() {
    const auto& [address, bytes] = range_.code;
    for (size_t at = 0; at < bytes.size();) {
        const auto does = register_writes(bytes.subspan(at), address + at);
        if (!does) {
            if (is_all_padding(bytes.subspan(at)))
                break;
            return StackSwitch{Cause::no_code, address + at};
        }
        code_.push_back({address + at, *does});
        at += does->length;
    }
    landing_.resize(code_.size());
    for (const Step& step : code_)
        if (step.does.target && step.does.flow != Flow::call && inside(step.does.target)) {
            const size_t to = index_of(step.does.target);
            if (to == code_.size())
                return StackSwitch{Cause::no_code, step.does.target};
            landing_[to] = true;
        }
    return std::nullopt;
}

// code_.size(): no instruction begins there.
size_t Flowing::index_of(uint64_t address) const {
    const auto found = std::ranges::lower_bound(code_, address, {}, &Step::address);
    return found != code_.end() && found->address == address
               ? static_cast<size_t>(found - code_.begin())
               : code_.size();
}

void Flowing::reach(size_t index, uint32_t own) {
    if (index >= code_.size())
        return;
    const uint32_t before = own_[index], after = before & own & 0xffff;
    if (before == after)
        return;
    own_[index] = after;
    pending_.push_back(index);
}

void Flowing::go_on_from(size_t index) {
    const RegisterWrites& does = code_[index].does;
    const uint32_t before = own_[index];
    uint32_t own = before & ~uint32_t{does.written};
    // That the stack pointer is on its stack is what judge() makes sure of.
    own |= 1u << number_rsp;
    if (does.copies && (before >> does.copy_from & 1))
        own |= 1u << does.copy_to;
    if (does.flow == Flow::call)
        own &= kept_over_calls;
    if (does.target && does.flow != Flow::call && inside(does.target))
        reach(index_of(does.target), own);
    if (does.flow == Flow::jump && does.indirect) {
        at_indirect_jumps_ &= own;
        at_indirect_jumps_ &= 0xffff;
    }
    if (does.flow != Flow::jump && does.flow != Flow::ret && does.flow != Flow::stop)
        reach(index + 1, own);
}

// What no direct jump or straight line leads to: cases of a switch, or where another function
// begins. Padding in between is no beginning.
void Flowing::enter_unreached(uint32_t own) {
    bool may_begin = true;
    for (size_t i = 0; i < code_.size(); ++i) {
        const RegisterWrites& does = code_[i].does;
        const auto bytes = range_.code.bytes.subspan(code_[i].address - range_.code.address);
        const bool fills =
            does.written == 0 && does.flow == Flow::next && !landing_[i] && may_begin_nop(bytes[0]);
        if (may_begin && !fills && !landing_[i] && (own_[i] & not_reached)) {
            entered_.push_back(i);
            reach(i, own);
        }
        if (!(may_begin && fills))
            may_begin =
                does.flow == Flow::jump || does.flow == Flow::ret || does.flow == Flow::stop;
    }
}

void Flowing::follow() {
    while (!pending_.empty()) {
        const size_t index = pending_.back();
        pending_.pop_back();
        go_on_from(index);
    }
}

// A number that is put into eax right before, without a jump in between that may bring another.
Found Flowing::judge_system_call(size_t index) const {
    for (size_t i = index; i-- > 0 && !landing_[i + 1];) {
        const RegisterWrites& does = code_[i].does;
        if (does.eax) {
            if (std::ranges::find(refused_calls, *does.eax) == std::end(refused_calls))
                return std::nullopt;
            break;
        }
        if (does.flow != Flow::next || (does.written & 1u << number_rax))
            break;
    }
    return StackSwitch{Cause::system_call, code_[index].address};
}

Found Flowing::judge() const {
    for (size_t i = 0; i < code_.size(); ++i) {
        const RegisterWrites& does = code_[i].does;
        const bool own = does.stack != Stack::copied ||
                         (!(own_[i] & not_reached) && (own_[i] >> does.source & 1));
        if (does.stack == Stack::other || !own)
            return StackSwitch{Cause::loads_stack_pointer, code_[i].address};
        if (does.other_gate)
            return StackSwitch{Cause::system_call, code_[i].address};
        if (does.system_call)
            if (Found found = judge_system_call(i))
                return found;
    }
    return std::nullopt;
}

Found Flowing::run() {
    if (Found found = decode_all())
        return found;
    own_.assign(code_.size(), not_reached | 0xffff);
    const uint32_t nothing = 1u << number_rsp;
    reach(0, range_.kind == Kind::part ? nothing | 1u << number_rbp : nothing);
    follow();
    if (range_.kind == Kind::unknown_code) {
        enter_unreached(nothing);
        follow();
    } else {
        // Cases of one switch lead to another switch.
        for (uint32_t before = not_reached;
             at_indirect_jumps_ != before && !(at_indirect_jumps_ & not_reached);) {
            before = at_indirect_jumps_;
            for (const size_t index : entered_)
                reach(index, before);
            enter_unreached(before);
            follow();
        }
    }
    return judge();
}

// Instructions with a 64-bit operand can be told from any bytes with some certainty; a look at
// every place finds them in what was taken for other code, or for data.
Found find_hidden(const CodePart& part) {
    for (size_t at = 0; at + 3 <= part.bytes.size(); ++at) {
        // REX.W without REX.R and REX.B in turn: the others name other registers.
        const auto rex = static_cast<uint8_t>(part.bytes[at]);
        if (rex < 0x48 || rex > 0x4f)
            continue;
        const auto opcode = static_cast<uint8_t>(part.bytes[at + 1]);
        const auto modrm = static_cast<uint8_t>(part.bytes[at + 2]);
        const bool to_register = opcode == 0x8b || opcode == 0x8d || opcode == 0x87;
        const bool from_register = opcode == 0x89 || opcode == 0x87;
        const bool to_rsp = to_register && !(rex & 4) && (modrm >> 3 & 7) == number_rsp;
        const bool from_any =
            from_register && !(rex & 1) && modrm >> 6 == 3 && (modrm & 7) == number_rsp;
        if (!to_rsp && !from_any)
            continue;
        const auto does = register_writes(part.bytes.subspan(at), part.address + at);
        if (does && does->stack == Stack::other)
            return StackSwitch{Cause::loads_stack_pointer, part.address + at};
        if (does && does->stack == Stack::copied && does->source != number_rbp)
            return StackSwitch{Cause::loads_stack_pointer, part.address + at};
    }
    return std::nullopt;
}

// A glance at each instruction: whether there is anything to be looked at closely.
bool is_plain(const CodePart& part) {
    std::vector<bool> begins(part.bytes.size());
    std::vector<uint64_t> landings;
    for (size_t at = 0; at < part.bytes.size();) {
        const auto glance = glance_at(part.bytes.subspan(at), part.address + at);
        if (!glance)
            return false;
        begins[at] = true;
        if (const uint64_t to = glance->target - part.address; glance->target && to < begins.size())
            landings.push_back(to);
        if (glance->suspicious) {
            const auto does = register_writes(part.bytes.subspan(at), part.address + at);
            if (!does || (does->stack != Stack::untouched && does->stack != Stack::moved) ||
                does->system_call || does->other_gate)
                return false;
        }
        at += glance->length;
    }
    return std::ranges::all_of(landings, [&](uint64_t to) { return begins[to]; });
}

} // namespace

std::optional<StackSwitch> find_stack_switch(const CodeToRead& range) {
    if (range.kind == Kind::unknown_code)
        if (Found found = find_hidden(range.code))
            return found;
    if (is_plain(range.code))
        return std::nullopt;
    return Flowing(range).run();
}

} // namespace auger
