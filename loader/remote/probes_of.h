// SPDX-License-Identifier: GPL-3.0-or-later
// Which probes an edit is of: who goes without them has nothing to do for it. Changes with
// Request.
#pragma once

#include "loader/remote/requests.h"

#include <type_traits>
#include <vector>

namespace auger::remote {

// By the agents' numbers. Not those of gates: an agent that cannot ask whether a call is open would
// let pass, or keep back, what it should not.
inline std::vector<ProbeId> probes_of(const Request& request) {
    return std::visit(
        [](const auto& one) -> std::vector<ProbeId> {
            using One = std::decay_t<decltype(one)>;
            if constexpr (std::is_same_v<One, AddProbe>)
                return {one.probe.id};
            else if constexpr (std::is_same_v<One, RemoveProbe> ||
                               std::is_same_v<One, SetAttached> || std::is_same_v<One, SetSlow>)
                return {one.probe};
            else if constexpr (std::is_same_v<One, SetSplit>)
                return one.split.active ? std::vector{one.split.probe} : std::vector<ProbeId>();
            else if constexpr (std::is_same_v<One, SetExplained>)
                return one.explain.active ? std::vector{one.explain.probe} : std::vector<ProbeId>();
            else
                return {};
        },
        request);
}

} // namespace auger::remote
