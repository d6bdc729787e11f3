// SPDX-License-Identifier: GPL-3.0-or-later
// Where Perl's frames stand among native ones. Changes when Perl's loop is entered in other ways.
#pragma once

#include "loader/runtimes/loop_code.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace auger {

// In a process.
struct PerlCode {
    LoopCode loop;                   // executes ops
    LoopCode run;                    // executes the program, by the loop
    std::array<LoopCode, 3> calls{}; // by which C code executes subs, likewise
    friend bool operator==(const PerlCode&, const PerlCode&) = default;
};

/*
 * Of the words that a walk has of a user stack (bpf/unwind_table.h), native frames and then Perl's,
 * in pieces: the same with each piece behind the native frame of the loop that executes it, and
 * without boundaries. Pieces that nothing executes are left out: of what C code has prepared, and
 * of a program that is still compiled.
 *
 * `leaf_is_return`: the first word is a return address, as the others are.
 */
std::vector<uint64_t> place_perl_frames(std::span<const uint64_t> words, const PerlCode& code,
                                        bool leaf_is_return);

// Whether a pair of words that begins so is one of Perl's.
bool is_perl_word(uint64_t first);

} // namespace auger
