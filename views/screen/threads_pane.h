// SPDX-License-Identifier: GPL-3.0-or-later
// Threads, and what each one's time was spent on.
#pragma once

#include "views/screen/panes.h"

namespace auger {

std::unique_ptr<Pane> make_threads_pane(const PaneOptions&);

} // namespace auger
