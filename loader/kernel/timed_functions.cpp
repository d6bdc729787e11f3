// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/timed_functions.h"

namespace auger {

void TimedFunctions::add(SpecId spec, ProbeId probe, const FunctionPlace& place) {
    functions_.insert_or_assign(spec, Function{probe, place});
}

std::optional<ProbeId> TimedFunctions::probe_of(SpecId spec) const {
    const auto found = functions_.find(spec);
    return found == functions_.end() ? std::nullopt : std::optional(found->second.probe);
}

const FunctionPlace* TimedFunctions::place_of(SpecId spec) const {
    const auto found = functions_.find(spec);
    return found == functions_.end() ? nullptr : &found->second.place;
}

} // namespace auger
