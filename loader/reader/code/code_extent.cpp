// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/code/code_extent.h"

#include "loader/arch/arch.h"

#include ARCH(code_bytes.h)

#include <map>
#include <vector>

namespace auger {
namespace {

using Flow = Instruction::Flow;

Error unknown(const char* cause) {
    return {"place probe",
            {},
            std::string("its size is not known, and ") + cause,
            "`.size` in its source tells it",
            Error::Kind::failed};
}

// What assemblers fill up with.
bool is_padding(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const auto instruction = decode(bytes, 0);
        const bool fills = instruction && (bytes[0] == std::byte{0xcc} ||
                                           (instruction->flow == Flow::next &&
                                            instruction->written == no_register &&
                                            !instruction->moves_stack && may_begin_nop(bytes[0])));
        if (!fills)
            return false;
        bytes = bytes.subspan(instruction->length);
    }
    return true;
}

// A jump through a variable leaves; one through a register or a table may go on anywhere in here.
bool may_stay(const Instruction& jump) {
    return !jump.memory || jump.base != no_register || jump.index != no_register;
}

} // namespace

Result<size_t> code_extent(const CodePart& part) {
    std::map<uint64_t, uint64_t> reached; // offsets of instructions, and of what is behind them
    std::vector<uint64_t> pending{0};
    while (!pending.empty()) {
        const uint64_t at = pending.back();
        pending.pop_back();
        if (at >= part.bytes.size() || reached.contains(at))
            continue;
        const auto instruction = decode(part.bytes.subspan(at), part.address + at);
        if (!instruction)
            return unknown("what its jumps lead to is not code");
        reached.emplace(at, at + instruction->length);
        const bool jumps =
            instruction->flow == Flow::jump || instruction->flow == Flow::conditional;
        if (jumps && instruction->indirect && may_stay(*instruction))
            return unknown("it jumps through a register or a table");
        if (jumps && !instruction->indirect)
            pending.push_back(instruction->target - part.address); // elsewhere: beyond the end
        if (instruction->flow != Flow::jump && instruction->flow != Flow::ret &&
            instruction->flow != Flow::stop)
            pending.push_back(at + instruction->length);
    }
    uint64_t end = 0;
    for (const auto& [begin, behind] : reached) {
        // Behind a lock prefix: see may_land().
        if (begin < end && behind == end && begin > 0 && part.bytes[begin - 1] == std::byte{0xf0} &&
            reached.contains(begin - 1))
            continue;
        if (begin < end)
            return unknown("it jumps into the middle of an instruction");
        if (!is_padding(part.bytes.subspan(end, begin - end)))
            return unknown("data lies between its instructions");
        end = behind;
    }
    return end;
}

} // namespace auger
