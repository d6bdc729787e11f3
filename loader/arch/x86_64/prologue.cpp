// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/prologue.h"

namespace auger {

namespace {

constexpr uint8_t push_rbp = 0x55, call_relative = 0xe8, ret = 0xc3, ret_and_pop = 0xc2;
constexpr uint16_t repz_ret = 0xc3f3;
constexpr uint32_t endbr64 = 0xfa1e0ff3;
// mov %rsp,%rbp in its two encodings, of three bytes
constexpr uint32_t frame_by_store = 0xe58948, frame_by_load = 0xec8b48;

constexpr uint8_t byte_of(uint64_t word, int index) {
    return static_cast<uint8_t>(word >> (8 * index));
}

} // namespace

// e8 and four bytes, or ff /2 in one of its lengths of two to seven bytes.
bool is_behind_call(Memory& memory, uint64_t address) {
    const auto before = memory.word(address - sizeof(uint64_t));
    if (!before)
        return false;
    if (byte_of(*before, 3) == call_relative)
        return true;
    for (int i = 1; i < 7; i++) {
        if (byte_of(*before, i) == 0xff && (byte_of(*before, i + 1) & 0x38) == 0x10)
            return true;
    }
    return false;
}

Prologue read_prologue(Memory& memory, uint64_t address) {
    const auto code = memory.word(address);
    if (!code)
        return Prologue::unknown;
    const uint8_t first = byte_of(*code, 0);
    if (first == push_rbp || first == ret || first == ret_and_pop ||
        static_cast<uint16_t>(*code) == repz_ret || static_cast<uint32_t>(*code) == endbr64)
        return Prologue::nothing_pushed;
    if (const uint32_t three = *code & 0xffffff;
        three == frame_by_store || three == frame_by_load) {
        const auto before = memory.word(address - sizeof(uint64_t));
        if (before && byte_of(*before, 7) == push_rbp)
            return Prologue::pushed_rbp;
    }
    return Prologue::unknown;
}

} // namespace auger
