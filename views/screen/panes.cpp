// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/panes.h"

#include "views/screen/flame_pane.h"

namespace auger {

std::span<const PaneRow> pane_table() {
    static constexpr PaneRow table[] = {
        {"flame", Action::flame, make_flame_pane},
    };
    return table;
}

} // namespace auger
