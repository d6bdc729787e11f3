// SPDX-License-Identifier: GPL-3.0-or-later
// Making and closing links, by the processes that are there for it, or, where there are none, here.
#pragma once

#include "loader/kernel/link_processes.h"

#include <span>
#include <vector>

namespace auger {

// All or none, in their order. `processes` may be null, as below.
Result<std::vector<UniqueFd>> make_links(LinkProcesses* processes,
                                         std::span<const LinkRequest> requests);
// Returns when the kernel has taken all of them off.
void close_links(LinkProcesses* processes, std::vector<UniqueFd> links);

} // namespace auger
