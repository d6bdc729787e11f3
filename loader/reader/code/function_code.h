// SPDX-License-Identifier: GPL-3.0-or-later
// analyse_function: where a function can be probed without harm. It decodes the machine code of one
// function from start to end and finds its instruction boundaries, the cheapest safe place
// for the entry probe, and every instruction by which a call can leave. What decodes single
// instructions is the machine's (loader/arch).
#pragma once

#include "loader/base/result.h"
#include "loader/reader/code/decoder.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace auger {

// Code of one contiguous part of a function.
struct CodePart {
    uint64_t address; // as linked
    std::span<const std::byte> bytes;
};

struct FunctionCode {
    // First byte of every instruction, of the body and of all cold parts, ascending.
    std::vector<uint64_t> boundaries;
    // Where the entry probe goes: the stack pointer still points at the return address there, and
    // every call passes it exactly once, but for Entry::repeats.
    struct Entry {
        uint64_t address;
        ProbeCost cost;
        // Go: the place is a conditional jump, and when it jumps (as CodeExit::condition says), the
        // function makes its stack larger and begins again: the call passes the place once more.
        uint8_t repeats = no_condition;
    };
    Entry entry;
    // The same where the arguments are still in their registers; mostly the same place, else a
    // dearer one. Nothing when there is none.
    std::optional<Entry> argument_entry;
    std::vector<CodeExit> exits; // ascending; empty when the function never returns
    // The same ends, seen at cheap instructions where that can be: see cheap_exits.h. Results are
    // not there yet. Empty when no exit is cheaper.
    std::vector<CodeExit> cheap_exits;
    bool indirect_jumps; // has jumps through tables inside

    bool is_boundary(uint64_t address) const;
};

// Reads `size` bytes of data at a linked address (jump tables); less when there is no such data.
using DataReader = std::function<std::vector<std::byte>(uint64_t address, size_t size)>;

// `cold` are the function's `.cold` parts; a jump between the parts is not an exit. Fails when the
// code does not decode from start to end, is too short, is a PLT stub, or has an exit that the
// kernel would refuse. Of a function of Go's no call ends at its entry.
Result<FunctionCode> analyse_function(const CodePart& body, std::span<const CodePart> cold,
                                      const DataReader& read_data, bool in_go = false);

// Targets of direct jumps that leave [address, address + size): which cold parts belong to it.
std::vector<uint64_t> leaving_jumps(const CodePart& part);

} // namespace auger
