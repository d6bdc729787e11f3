// SPDX-License-Identifier: GPL-3.0-or-later
// Callees: which function a call instruction calls, by name: one of the same file, or one that the
// file imports, through its PLT or its GOT.
#pragma once

#include "loader/reader/code/call_instructions.h"
#include "loader/reader/elf/function_index.h"
#include "loader/reader/elf/slots.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace auger {

struct Callee {
    std::vector<std::string_view> names; // mangled, all aliases; empty: not known
    uint64_t address = 0;                // as linked in the same file; 0: in another one
    bool ifunc = false;                  // an implementation is chosen when the program starts

    bool known() const { return !names.empty(); }
};

class Callees {
  public:
    explicit Callees(std::shared_ptr<const FunctionIndex> index);

    Callee of(const CallInstruction& call) const;
    // The same for code that is called directly: a function or a PLT stub. Remembered.
    const Callee& at_code(uint64_t address) const;
    // Whether a call through a pointer may go anywhere: the pointer is no slot of the linker's.
    bool through_variable(const CallInstruction& call) const;

  private:
    Callee at_slot(uint64_t slot) const;
    Callee function_at(uint64_t address, bool ifunc) const;

    std::shared_ptr<const FunctionIndex> index_;
    Slots slots_;
    mutable std::map<uint64_t, Callee> by_code_;
};

} // namespace auger
