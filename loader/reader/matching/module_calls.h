// SPDX-License-Identifier: GPL-3.0-or-later
// ModuleCalls: the calls in one module. Each function is read and decoded once.
#pragma once

#include "loader/reader/code/call_instructions.h"
#include "loader/reader/matching/callees.h"
#include "loader/reader/matching/probe_match.h"
#include "loader/reader/matching/wanted_callee.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace auger {

class ModuleCalls {
  public:
    // `number`: the module's index among those that are searched.
    ModuleCalls(size_t number, const ProbeModule& module)
        : number_(number), module_(module), callees_(module.index.pointer()) {}

    using Calls = Result<std::vector<CallInstruction>>;

    const Calls& in(const FunctionIndex::Function& function);

    // Whether the function's bytes may hold a call that `wanted` fits: the cheap test that makes
    // looking through a whole program possible. False alarms only cost.
    bool may_call(const FunctionIndex::Function& function, const WantedCallee& wanted) const;

    size_t number() const { return number_; }
    const ProbeModule& module() const { return module_; }
    const Callees& callees() const { return callees_; }

  private:
    size_t number_;
    const ProbeModule& module_;
    Callees callees_;
    std::map<uint64_t, Calls> calls_;
};

} // namespace auger
