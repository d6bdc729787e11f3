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
    void remove(uint64_t cookie);

  private:
    const Programs& programs_;
    std::map<uint64_t, std::vector<wire_call_target>> entered_;
};

// The operand and the targets of one site, as the tracker wants them. Targets that lie in no file
// are left out.
wire_call_operand wire_operand(const PlaceMatch& site);
std::vector<wire_call_target> wire_targets(const PlaceMatch& site, const TargetView& view);

} // namespace auger
