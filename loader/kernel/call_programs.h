// SPDX-License-Identifier: GPL-3.0-or-later
// CallPrograms: what is read and asked of each spec's calls, in the kernel's map, and how the
// values that come back are to be read. Calls may still come back with the values of a program that
// was edited since, so the last few versions are kept.
#pragma once

#include "loader/base/ids.h"
#include "loader/kernel/programs.h"
#include "loader/values/call_program.h"

#include <cstdint>
#include <deque>
#include <map>

namespace auger {

class CallPrograms {
  public:
    explicit CallPrograms(const Programs& programs) : programs_(programs) {}

    // `slot`: the spec's in the kernel. Nothing: the spec has no program any more; first take the
    // spec's flag away, and set it after a program was entered.
    Result<void> set(SpecId spec, uint16_t slot, std::optional<CallProgram> program);
    void remove(SpecId spec, uint16_t slot);

    // Null: not known any more, or never.
    const CallProgram* find(SpecId spec, uint32_t version) const;
    const CallProgram* newest(SpecId spec) const;

  private:
    static constexpr size_t kept_versions = 4;

    const Programs& programs_;
    std::map<SpecId, std::deque<CallProgram>> versions_; // newest last
    uint32_t last_version_ = 0;
};

} // namespace auger
