// SPDX-License-Identifier: GPL-3.0-or-later
// The answer of `sites`, with lines to choose: each times the calls that are made from there.
#pragma once

#include "views/screen/pager.h"

#include <string>
#include <vector>

namespace auger {

// `function`: as a probe names it.
void mark_sites(std::vector<PagerLine>& lines, const std::string& function);

} // namespace auger
