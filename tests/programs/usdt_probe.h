// SPDX-License-Identifier: GPL-3.0-or-later
//
// USDT probes, written down as SystemTap's format has them: a nop, and a note that says where it
// is, what it is called, where its semaphore is and where its arguments lie.
#ifndef AUGER_TESTS_PROGRAMS_USDT_PROBE_H
#define AUGER_TESTS_PROGRAMS_USDT_PROBE_H

#include <stdint.h>

// In a statement `__asm__ volatile(USDT_PROBE(...) : : operands)`. `arguments` as in a note, with
// operands as in inline assembly: "8@%0 -4@%k1".
#define USDT_PROBE(nop, provider, name, semaphore, arguments)                                      \
    "990: " nop "\n"                                                                               \
    ".pushsection .note.stapsdt,\"\",@note\n"                                                      \
    ".balign 4\n"                                                                                  \
    ".4byte 992f-991f, 994f-993f, 3\n"                                                             \
    "991: .asciz \"stapsdt\"\n"                                                                    \
    "992: .balign 4\n"                                                                             \
    "993: .8byte 990b\n"                                                                           \
    ".8byte _.stapsdt.base\n"                                                                      \
    ".8byte " semaphore "\n"                                                                       \
    ".asciz \"" provider "\"\n"                                                                    \
    ".asciz \"" name "\"\n"                                                                        \
    ".asciz \"" arguments "\"\n"                                                                   \
    "994: .balign 4\n"                                                                             \
    ".popsection\n"                                                                                \
    ".ifndef _.stapsdt.base\n"                                                                     \
    ".pushsection .stapsdt.base,\"aG\",@progbits,.stapsdt.base,comdat\n"                           \
    ".weak _.stapsdt.base\n"                                                                       \
    ".hidden _.stapsdt.base\n"                                                                     \
    "_.stapsdt.base: .space 1\n"                                                                   \
    ".size _.stapsdt.base, 1\n"                                                                    \
    ".popsection\n"                                                                                \
    ".endif\n"

// The kernel counts in it who listens.
#define USDT_SEMAPHORE(name)                                                                       \
    __attribute__((section(".probes"), used, visibility("hidden"))) volatile uint16_t name = 0

#endif
