// SPDX-License-Identifier: GPL-3.0-or-later
// find_calls: the instructions of one part of a function by which it calls others, where each call
// comes back to, and where its return is best seen.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/code/decoder.h"
#include "loader/reader/code/function_code.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

struct CallInstruction {
    enum class Target : uint8_t {
        code,    // `target` is the callee's first byte, or a PLT stub
        slot,    // `target` is where the callee's address is stored (`call *slot(%rip)`)
        unknown, // a register or computed memory: a function pointer, a virtual call
    };
    struct ReturnPlace {
        uint64_t address;
        ProbeCost cost;
    };

    uint64_t address;  // as linked
    uint8_t length;    // bytes: it returns to address + length
    bool jump;         // leaves by a jump (a tail call): nothing comes back here
    bool conditional;  // such a jump that may also fall through
    uint8_t condition; // ... when, as Instruction has it
    Target kind;
    uint64_t target; // 0 when unknown
    // Of one that does not say its target itself; nothing when it is more than can be told.
    std::optional<CallOperand> operand;
    ProbeCost cost;
    // Where every return is seen: the instruction behind the call, or one that follows in a
    // straight line: the first that the kernel takes a probe on (it takes none on locked ones), or
    // a cheaper one before memory is touched, where the result is still in its register. Nothing
    // when there is none.
    std::optional<ReturnPlace> returns;
    bool last; // no code of the part follows: the callee never returns
};

// In ascending order. Jumps are listed when they leave the part, or when their target is unknown
// and no jump table of `read_data`. Fails when the part does not decode from start to end, or jumps
// into the middle of an instruction: then what was decoded is not what runs.
Result<std::vector<CallInstruction>> find_calls(const CodePart& part, const DataReader& read_data);

} // namespace auger
