// SPDX-License-Identifier: GPL-3.0-or-later
// What is x86-64's of files, addresses and frames.
#pragma once

#include <elf.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace auger {

inline constexpr std::string_view machine_name = "x86-64";
inline constexpr uint16_t elf_machine = EM_X86_64;

// What the dynamic linker writes, by the type of the relocation.
enum Relocation : uint32_t {
    relocation_call_slot = R_X86_64_JUMP_SLOT,    // a function's address, for calls
    relocation_slot = R_X86_64_GLOB_DAT,          // a symbol's address
    relocation_address = R_X86_64_64,             // the same plus a constant
    relocation_relative = R_X86_64_RELATIVE,      // a place in the file itself
    relocation_resolved = R_X86_64_IRELATIVE,     // what a function answers (ifunc)
    relocation_thread = R_X86_64_TPOFF64,         // how far a variable is from the thread pointer
    relocation_thread_module = R_X86_64_DTPMOD64, // in which block it is; where is in the next word
    relocation_thread_descriptor = R_X86_64_TLSDESC, // two words: a function, and what it is given
};

// Where the block of a program's own thread-local variables begins, from the thread pointer, below
// which all those are that threads have from their beginning.
inline constexpr int64_t program_block_begin(uint64_t size) {
    return -static_cast<int64_t>(size);
}
// Whether a word is how far a variable is from there, not a pointer.
inline constexpr bool is_thread_offset(uint64_t word) {
    return static_cast<int64_t>(word) < 0;
}

// Where the dynamic linker looks by default on Debian and most others, and its name without
// versions and `.so`.
inline constexpr std::array<const char*, 5> library_folders = {
    "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"};
inline constexpr std::string_view dynamic_linker = "ld-linux-x86-64";

inline constexpr int user_address_bits = 56; // with five levels of page tables

// Of the frame that a signal's handler returns to, in the ucontext that the kernel leaves.
inline constexpr uint64_t ucontext_rbp = 120, ucontext_rbx = 128, ucontext_rsp = 160,
                          ucontext_rip = 168;

// By which a program switches stacks, catches signals (a handler may switch), or makes code that
// nobody has read. Numbers are the kernel's.
inline constexpr uint32_t refused_calls[] = {
    9,   // mmap
    10,  // mprotect
    13,  // rt_sigaction
    15,  // rt_sigreturn
    131, // sigaltstack
    329, // pkey_mprotect
};

} // namespace auger
