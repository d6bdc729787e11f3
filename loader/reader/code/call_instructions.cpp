// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/code/call_instructions.h"

#include "loader/reader/code/jump_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

using Flow = Instruction::Flow;

// Some instructions that take no time that anybody would see in a call's duration.
constexpr size_t walk_limit = 6;

struct Part {
    CodePart bytes;
    std::vector<Instruction> code;
    std::vector<uint64_t> landings; // of direct jumps inside, ascending
    bool indirect_jumps = false;    // through tables: where they land is not known

    bool holds(uint64_t address) const { return address - bytes.address < bytes.bytes.size(); }
    bool lands_between(uint64_t after, uint64_t up_to) const {
        const auto found = std::upper_bound(landings.begin(), landings.end(), after);
        return found != landings.end() && *found <= up_to;
    }
};

bool cheap(const Instruction& at) {
    return at.cost == ProbeCost::emulated && !at.nop5;
}

// A call that goes on with code is followed by it without a gap.
std::optional<CallInstruction::ReturnPlace> place_return(const Part& part, size_t call) {
    const size_t first = call + 1;
    std::optional<CallInstruction::ReturnPlace> found;
    for (size_t i = first; i < part.code.size() && i - first < walk_limit; ++i) {
        const Instruction& at = part.code[i];
        // Once there is a place, a cheaper one must not make others pay who jump there.
        if (found &&
            (part.indirect_jumps || part.lands_between(part.code[first].address, at.address)))
            break;
        // Inside a function the kernel's optimised probe on a 5-byte nop could do harm.
        const bool usable = at.cost != ProbeCost::refused && !at.nop5;
        if (usable && (!found || cheap(at)))
            found = {at.address, at.cost};
        if (usable && cheap(at))
            break;
        // Nor may it be behind what takes time, or where the result is there no more.
        if (at.flow != Flow::next || at.moves_stack || at.writes_result ||
            (found && !may_be_left_out(at, false)))
            break;
    }
    return found;
}

std::optional<CallOperand> operand_of(const Instruction& at) {
    if (!at.memory)
        return at.written ? std::optional(CallOperand{false, at.written, 0, 0, 0}) : std::nullopt;
    if (at.odd_memory)
        return std::nullopt;
    return CallOperand{true, at.base, at.index, at.scale, at.displacement};
}

} // namespace

Result<std::vector<CallInstruction>> find_calls(const CodePart& bytes,
                                                const DataReader& read_data) {
    const auto undecodable = [&](uint64_t at) {
        return Error{"find calls", {}, fmt::format("its code cannot be decoded at {:#x}", at), {}};
    };
    Part part{bytes, {}, {}, false};
    for (size_t at = 0; at < bytes.bytes.size();) {
        const auto instruction = decode(bytes.bytes.subspan(at), bytes.address + at);
        if (!instruction)
            return undecodable(bytes.address + at);
        part.code.push_back(*instruction);
        at += instruction->length;
    }
    std::vector<bool> leaves(part.code.size());
    for (size_t i = 0; i < part.code.size(); ++i) {
        const Instruction& at = part.code[i];
        if (!at.is_branch())
            continue;
        const bool slot = at.indirect && at.memory && !at.base && !at.index;
        if (!at.indirect && part.holds(at.target))
            part.landings.push_back(at.target);
        else if (!at.indirect || slot)
            leaves[i] = true;
        else if (jumps_through_table(
                     part.code, i, [&](uint64_t a) { return part.holds(a); }, read_data))
            part.indirect_jumps = true;
        else
            leaves[i] = true;
    }
    std::sort(part.landings.begin(), part.landings.end());
    for (uint64_t landing : part.landings)
        if (!may_land(part.code, landing))
            return undecodable(landing);

    std::vector<CallInstruction> calls;
    for (size_t i = 0; i < part.code.size(); ++i) {
        const Instruction& at = part.code[i];
        if (at.flow != Flow::call && !leaves[i])
            continue;
        CallInstruction call{};
        call.address = at.address;
        call.length = at.length;
        call.jump = at.flow != Flow::call;
        call.conditional = at.flow == Flow::conditional;
        call.condition = at.condition;
        call.kind = CallInstruction::Target::unknown;
        call.cost = at.cost;
        call.last = i + 1 == part.code.size();
        if (!at.indirect) {
            call.kind = CallInstruction::Target::code;
            call.target = at.target;
        } else {
            call.operand = operand_of(at);
            if (call.operand && at.memory && !at.base && !at.index) {
                call.kind = CallInstruction::Target::slot;
                call.target = at.displacement;
            }
        }
        if (!call.jump)
            call.returns = place_return(part, i);
        calls.push_back(call);
    }
    return calls;
}

} // namespace auger
