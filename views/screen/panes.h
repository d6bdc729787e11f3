// SPDX-License-Identifier: GPL-3.0-or-later
// The panes there are, one row each, in the order of their tabs. The time strip is a pane too, but
// stands below the one in front.
#pragma once

#include "views/screen/pane.h"

#include <memory>
#include <span>

namespace auger {

struct PaneOptions {
    bool unicode = true;
};

struct PaneRow {
    std::string_view name; // the argument of `view`
    Action action;         // that brings it to the front
    std::unique_ptr<Pane> (*make)(const PaneOptions&);
};

std::span<const PaneRow> pane_table();

} // namespace auger
