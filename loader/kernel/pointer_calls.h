// SPDX-License-Identifier: GPL-3.0-or-later
// PointerCalls: what the tracker must know of call instructions that call through a pointer: where
// they find their target, and which targets are the function that is timed.
#pragma once

#include "loader/base/result.h"
#include "loader/kernel/programs.h"
#include "loader/kernel/target_view.h"

#include <cstdint>
#include <map>
#include <vector>

namespace auger {

class PointerCalls {
  public:
    explicit PointerCalls(const Programs& programs) : programs_(programs) {}

    // Enters what is not known yet of a spec, by its probes' cookie; before they are attached.
    // Fails when there is no room, and leaves what was entered to remove().
    Result<void> enter(uint64_t cookie, const PlaceMatch& site, const TargetView& view);
    // Likewise where a call of a function comes back to, for functions that end by a jump; `entry`
    // is where the function's entry probe is.
    Result<void> enter_return(uint64_t cookie, const PlaceMatch& site, const PlaceMatch& function,
                              uint64_t entry, const TargetView& view);
    void remove(uint64_t cookie);

  private:
    Result<void> enter(uint64_t cookie, wire_call_target target, const std::string& name);

    const Programs& programs_;
    std::map<uint64_t, std::vector<wire_call_target>> entered_;
};

// The operand and the targets of one site, as the tracker wants them. Targets that lie in no file
// are left out.
wire_call_operand wire_operand(const PlaceMatch& site);
std::vector<wire_call_target> wire_targets(const PlaceMatch& site, const TargetView& view);

} // namespace auger
