// SPDX-License-Identifier: GPL-3.0-or-later
// cheap_exits: where the end of a call can be seen at an instruction that the kernel emulates. A
// probe on `ret` is single-stepped, which costs twenty times as much. A few instructions earlier
// there mostly is a conditional jump (that of the stack protector, say) behind which nothing but
// the `ret` can come: the call ends there, and what is left out are some pops (may_be_left_out()).
#pragma once

#include "loader/reader/code/decoder.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace auger {

// No more instructions than that come after the place, up to the `ret` and with it.
inline constexpr size_t most_left_out = 16;

// Of one `ret`: a jump's probe is hit also by those that do not jump, and holds them up.
inline constexpr size_t most_places = 4;

struct CodeToLeave {
    std::span<const Instruction> code;                                   // ascending
    std::function<std::span<const std::byte>(const Instruction&)> bytes; // of an instruction
    uint64_t begin;                                                      // where calls come in
    std::vector<uint64_t> entries; // and where their probe may be
    bool at_entries;               // calls may end there, by a jump that leads out at once
};

// `exits`, in which each `ret` that can be is replaced by the places before it: every way to it
// passes exactly one of them, at most once a call, and comes to nothing else from there. Where a
// jump leads to another function and else to the `ret`, both exits are at it. No exit at an entry
// is that of all calls. Not to be asked where it is unknown to what a jump inside the function
// leads.
std::vector<CodeExit> cheap_exits(const CodeToLeave& function, std::span<const CodeExit> exits);

} // namespace auger
