// SPDX-License-Identifier: GPL-3.0-or-later
// Call frame programs (DW_CFA_*): run step by step, each step being a range of code in which one
// rule holds. Costs are bounded by the program's length, whatever it holds.
#pragma once

#include "loader/reader/tables/encoded_pointer.h"
#include "loader/reader/tables/frame_state.h"

#include <array>

namespace auger {

// What the instructions of a function and those of its common entry share.
struct FrameEncoding {
    uint64_t code_alignment = 1;
    int64_t data_alignment = -8;
    uint8_t pointer_encoding = pointer_absolute;
    PointerBases bases;
};

// From `address` to the next row's.
struct FrameRow {
    uint64_t address;
    wire_unwind_rule rule;
};

class FrameProgram {
  public:
    // `offset`: of the instructions in their section. They and `initial` are referred to.
    FrameProgram(const FrameEncoding& encoding, const FrameState& initial, Bytes instructions,
                 uint64_t offset, uint64_t begin, uint64_t end)
        : encoding_(encoding), initial_(initial), state_(initial), cursor_(instructions),
          offset_(offset), location_(begin), end_(end) {}

    // Rows come by ascending address, all of them in [begin, end). False after the last one.
    bool next(FrameRow& row);
    // It has an instruction that is unknown, cut short or does not make sense. What came before is
    // right; the last row says that the rest is not known.
    bool broken() const { return broken_; }

    // The state after all instructions of a common entry, which move nowhere. Nothing when they are
    // broken.
    static std::optional<FrameState> initial_state(const FrameEncoding& encoding,
                                                   Bytes instructions);

  private:
    enum class Step { state, moved, broken };
    static constexpr size_t most_remembered = 16;

    Step execute();
    Step extended(uint8_t instruction);
    Step advance(uint64_t units);
    Step move_to(uint64_t location);
    Step restore(uint64_t column);
    Step define_cfa(uint64_t base, int64_t offset);
    Step define_cfa_offset(int64_t offset);
    Step define_cfa_register(uint64_t base);
    Step define_cfa_expression();
    Step set_rule(uint64_t column, const RegisterRule& rule);
    Step set_at_cfa(uint64_t column, uint64_t units);
    Step set_expression(uint64_t column);
    Step set_register(uint64_t column, uint64_t source);
    int64_t scaled(uint64_t units) const {
        return static_cast<int64_t>(units * static_cast<uint64_t>(encoding_.data_alignment));
    }

    const FrameEncoding& encoding_;
    const FrameState& initial_;
    FrameState state_;
    ByteCursor cursor_;
    uint64_t offset_;
    uint64_t location_;
    uint64_t end_;
    size_t remembered_ = 0;
    bool done_ = false;
    bool broken_ = false;
    std::array<FrameState, most_remembered> memory_;
};

} // namespace auger
