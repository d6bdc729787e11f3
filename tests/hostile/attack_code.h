// SPDX-License-Identifier: GPL-3.0-or-later
// The machine code that attackers run in their files: what comes back tells that nobody has changed
// it on the way.
#pragma once

#include <cstdint>

namespace auger::test {

// push %rbp; mov %rsp,%rbp; xor %eax,%eax; 1: add $3,%rax; dec %rdi; jne 1b; pop %rbp; ret
inline constexpr uint8_t attack_code[] = {0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, 0x48, 0x83, 0xc0,
                                          0x03, 0x48, 0xff, 0xcf, 0x75, 0xf7, 0x5d, 0xc3};

// Of a call with that many turns.
inline constexpr uint64_t attack_result(uint64_t turns) {
    return 3 * turns;
}

} // namespace auger::test
