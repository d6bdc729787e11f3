// SPDX-License-Identifier: GPL-3.0-or-later
// As the System V ABI has it (general and local dynamic models): lea SLOT(%rip), %rdi; call
// __tls_get_addr; then mov OFFSET(%rax), REGISTER.
#include "loader/reader/code/thread_access.h"

#include "loader/reader/code/decoder.h"
#include "loader/unwind/byte_cursor.h"

namespace auger {
namespace {

using Move = Instruction::Move;
using Flow = Instruction::Flow;

bool loads_slot(const Instruction& instruction) {
    return instruction.move == Move::load_address && instruction.memory &&
           instruction.base == no_register && instruction.index == no_register &&
           instruction.writes_argument;
}

// mov OFFSET(%rax), REGISTER, of 64 bits.
bool loads_from_result(Bytes bytes) {
    if (bytes.size() < 3)
        return false;
    const auto byte = [&](size_t at) { return static_cast<uint8_t>(bytes[at]); };
    constexpr uint8_t wide = 0x48, wide_high = 0x4c, load = 0x8b, rax = 0;
    return (byte(0) == wide || byte(0) == wide_high) && byte(1) == load && (byte(2) & 7) == rax &&
           byte(2) >> 6 != 3;
}

} // namespace

std::optional<ThreadAccess> first_thread_access(const CodePart& code) {
    std::optional<uint64_t> slot; // of the instruction before
    bool is_asked = false;        // rax is where the block is
    uint64_t asked_slot = 0;
    for (size_t at = 0; at < code.bytes.size();) {
        const auto rest = code.bytes.subspan(at);
        const auto instruction = decode(rest, code.address + at);
        if (!instruction || instruction->is_branch() || instruction->flow == Flow::ret)
            return std::nullopt;
        if (instruction->flow == Flow::call) {
            if (is_asked)
                return std::nullopt;
            is_asked = slot.has_value();
            asked_slot = slot.value_or(0);
        } else if (is_asked && loads_from_result(rest.first(instruction->length))) {
            return ThreadAccess{asked_slot, instruction->displacement};
        } else if (is_asked && instruction->writes_result) {
            return std::nullopt;
        }
        slot = loads_slot(*instruction) ? std::optional(instruction->displacement) : std::nullopt;
        at += instruction->length;
    }
    return std::nullopt;
}

} // namespace auger
