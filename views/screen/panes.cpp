// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/panes.h"

#include "views/screen/calls_pane.h"
#include "views/screen/difference_pane.h"
#include "views/screen/flame_pane.h"
#include "views/screen/histogram_pane.h"
#include "views/screen/strip_pane.h"
#include "views/screen/table_pane.h"
#include "views/screen/threads_pane.h"

namespace auger {

std::span<const PaneRow> pane_table() {
    static constexpr PaneRow table[] = {
        {"flame", Action::flame, make_flame_pane},
        {"difference", Action::difference, make_difference_pane},
        {"histogram", Action::histogram, make_histogram_pane},
        {"calls", Action::calls, make_calls_pane},
        {"table", Action::table, make_table_pane},
        {"threads", Action::threads, make_threads_pane},
        {"strip", Action::strip, make_strip_pane},
    };
    return table;
}

} // namespace auger
