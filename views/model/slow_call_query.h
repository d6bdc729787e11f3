// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the logged slow calls a view shows.
#pragma once

#include "views/model/model.h"

#include <optional>
#include <vector>

namespace auger {

// Of the window (an ewma window shows all), the oldest first.
std::vector<const SlowCall*> find_slow_calls(const Model&, const Window&,
                                             std::optional<ProbeId> probe);
// The probe whose function was called.
ProbeId probe_of(const Model&, const SlowCall&);

} // namespace auger
