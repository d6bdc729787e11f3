// SPDX-License-Identifier: GPL-3.0-or-later
// All keys, by group: the help on the screen and the manual's section, from the one table.
#pragma once

#include "views/screen/pager.h"

#include <string>
#include <vector>

namespace auger {

std::vector<PagerLine> key_help();
std::string key_markdown();

} // namespace auger
