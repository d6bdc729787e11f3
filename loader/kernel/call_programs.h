// SPDX-License-Identifier: GPL-3.0-or-later
// CallPrograms: what is read and asked of each spec's calls, in the kernel's array, and how the
// values that come back are to be read. A program is entered before a spec refers to it, and its
// place is not used again soon, so that a call meets one program or another. Calls may still come
// back with the values of one that was edited since, so the last few are kept.
#pragma once

#include "loader/base/ids.h"
#include "loader/base/transaction.h"
#include "loader/kernel/programs.h"
#include "loader/values/call_program.h"

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace auger {

class CallPrograms {
  public:
    explicit CallPrograms(const Programs& programs)
        : programs_(programs), used_(WIRE_MAX_PROGRAMS) {}

    // Enters the spec's next program; returns what its wire_spec.program must be from now on (0 for
    // no program). Its present one keeps its place until the edit is committed. Fails when
    // WIRE_MAX_PROGRAMS are in use.
    Result<uint32_t> enter(SpecId spec, std::optional<CallProgram> program, Transaction& edit);
    void remove(SpecId spec);

    // Null: not known any more, or never.
    const CallProgram* find(SpecId spec, uint32_t version) const;
    const CallProgram* newest(SpecId spec) const;
    // Whether one that is in force reads what threads work for.
    bool read_contexts() const;

  private:
    static constexpr size_t kept_versions = 4;

    void release(uint32_t place);

    struct Entered {
        uint32_t place = 0;               // from 1; 0: none in force
        std::deque<CallProgram> versions; // newest last
    };

    const Programs& programs_;
    std::vector<bool> used_;  // by place - 1
    uint32_t next_place_ = 0; // where the search for a free one begins: recent ones rest longest
    std::map<SpecId, Entered> entered_;
    uint32_t last_version_ = 0;
};

} // namespace auger
