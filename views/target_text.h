// SPDX-License-Identifier: GPL-3.0-or-later
// What is observed, in words: the first rows of `status`. Changes with TargetStatus.
#pragma once

#include "loader/reports/target_status.h"

#include <string>
#include <vector>

namespace auger {

// What the user named, then processes of it; raw.
std::vector<std::string> target_lines(const TargetStatus&);

} // namespace auger
