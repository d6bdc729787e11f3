// SPDX-License-Identifier: GPL-3.0-or-later
// One slow call in full, kept by whoever shows it: the model may give the call up meanwhile.
#pragma once

#include "views/canvas.h"
#include "views/model/slow_call_query.h"

#include <optional>
#include <string>
#include <vector>

namespace auger {

// All of one call, as it was when the cursor came to it.
struct CallDetails {
    uint64_t number = 0;
    SlowCall call;
    ClassFilter of;
    bool with_class = false; // there is a split
    struct Around {
        std::string probe;
        std::string state;
    };
    std::vector<Around> around;     // innermost first
    std::optional<CallPlace> place; // where it spent its time
};

// `number`: of all slow calls that came; `of`: its class.
CallDetails take_details(const Model&, const SlowCall&, uint64_t number, const ClassFilter& of);
// The model is asked for names only. The stack is of where the call spent its time, where that is
// known: its callers are the call's.
Canvas draw_call_details(const CallDetails&, const Model&, size_t width, bool unicode);

} // namespace auger
