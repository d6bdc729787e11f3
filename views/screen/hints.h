// SPDX-License-Identifier: GPL-3.0-or-later
// The line that guides: what the next sensible step is, for somebody who never read a manual, and
// which key makes it. Then the keys that always help.
#pragma once

#include "views/model/model.h"
#include "views/screen/action.h"
#include "views/screen/screen.h"

#include <string>
#include <vector>

namespace auger {

struct Hint {
    std::string key; // empty: words alone
    std::string text;
    bool guiding = false; // the next step, not just a key there is
};

struct Surroundings {
    Action pane = Action::flame; // in front
    bool function = false;       // one is under the cursor
    bool timed = false;          // that one
    bool call = false;           // one is under the cursor
    bool site = false;           // what is timed is one call site
    bool filtered = false;       // one class is shown alone
    bool searching = false;
    bool frozen = false;
    bool strip = false;                        // has the focus
    std::string suggested{}, suggested_next{}; // to be timed, as shown; empty: nothing
};

// Whether anything is timed.
bool any_probe(const Model&);
std::vector<Hint> hints_for(const Model&, const ScreenState&, const Surroundings&);
std::vector<Hint> pager_hints(bool choosing, bool searching);
void draw_hints(Canvas&, size_t y, const std::vector<Hint>&);

} // namespace auger
