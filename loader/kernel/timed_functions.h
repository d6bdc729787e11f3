// SPDX-License-Identifier: GPL-3.0-or-later
// TimedFunctions: what the specs are of that the kernel's records speak of: which probe, which
// function, and how values of its calls are to be read. Changes when records are to be understood
// by something else.
#pragma once

#include "loader/base/ids.h"
#include "loader/kernel/call_programs.h"
#include "loader/kernel/module_catalogue.h"
#include "loader/kernel/spec_table.h"

#include <cstdint>
#include <map>
#include <optional>

namespace auger {

// Where the function is that a spec times (of a call site: the one that is called).
struct FunctionPlace {
    FileIdentity file;
    uint64_t address; // as linked
    // Of a call site: how far behind the return address its return is seen.
    uint64_t behind_return = 0; // bytes
};

class TimedFunctions {
  public:
    // What is in the tables now.
    TimedFunctions(const SpecTable& specs, const CallPrograms& programs)
        : specs_(specs), programs_(programs) {}

    void add(SpecId spec, ProbeId probe, const FunctionPlace& place);
    void remove(SpecId spec) { functions_.erase(spec); }

    // As a record names it; nothing when it is gone.
    std::optional<SpecId> find_spec(uint16_t slot, uint16_t generation) const {
        return specs_.find(slot, generation);
    }
    std::optional<ProbeId> probe_of(SpecId spec) const;
    const FunctionPlace* place_of(SpecId spec) const;
    // How values of the spec's calls are to be read; null: not known any more.
    const CallProgram* program_of(SpecId spec, uint32_t version) const {
        return programs_.find(spec, version);
    }
    const CallProgram* newest_program_of(SpecId spec) const { return programs_.newest(spec); }

  private:
    struct Function {
        ProbeId probe;
        FunctionPlace place;
    };

    const SpecTable& specs_;
    const CallPrograms& programs_;
    std::map<SpecId, Function> functions_;
};

} // namespace auger
