// SPDX-License-Identifier: GPL-3.0-or-later
// The next of what is shown: a longer window, another kind of window, the next class.
#pragma once

#include "views/screen/pane.h"

#include <string>

namespace auger {

Window step_window(const Window&, bool longer);
// Fading, then the last seconds, then everything.
Window other_window(const Window&);
std::string window_command(const Window&, uint64_t first_ns);

// All, then the classes that the split in force makes.
ClassFilter next_filter(const Model&, const ClassFilter&);

} // namespace auger
