// SPDX-License-Identifier: GPL-3.0-or-later
// Closing links. The kernel takes some 40 ms to close one, most of which it waits for programs that
// may run; those that are closed at the same time wait together.
#pragma once

#include "loader/base/fd.h"

#include <vector>

namespace auger {

// Returns when the kernel has taken all of them off.
void close_links(std::vector<UniqueFd> links);

} // namespace auger
