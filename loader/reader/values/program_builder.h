// SPDX-License-Identifier: GPL-3.0-or-later
// ProgramBuilder: the tables of a wire_call_program within their limits. What is asked for twice is
// there once.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/values/operand.h"

#include <string>

namespace auger {

class ProgramBuilder {
  public:
    // Each gives the index in its table, or an error of which only the cause is known.
    Result<uint8_t> add_value(const Operand& operand);
    Result<uint8_t> add_comparison(const wire_comparison& comparison);
    Result<uint8_t> add_string(const std::string& text); // a constant

    CallProgram& program() { return program_; }
    bool at_end(uint8_t value) const {
        return program_.wire.fetch[value].flags & WIRE_FETCH_AT_END;
    }

  private:
    Result<wire_fetch> with_operands(const Operand& operand);

    CallProgram program_;
    uint8_t fetched_strings_ = 0;
    uint8_t constants_ = 0;
};

} // namespace auger
