// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the logged slow calls a view shows.
#pragma once

#include "views/model/classifier.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace auger {

// Of the window (nothing fades in an ewma window), the oldest first. A slow call is of its split's
// outermost call's class, as a sample in it is.
std::vector<const SlowCall*> find_slow_calls(const Model&, const Classifier&, const Window&,
                                             std::optional<ProbeId> probe,
                                             const ClassFilter& filter = {});
// Slow calls of the window and probe that `only` does not keep: they are in none of the above.
size_t count_left_out(const Model&, const Classifier&, const Window&, std::optional<ProbeId> probe);
// Its class: every part that is known. Duration `open` when that is not.
ClassFilter class_of(const Model&, const Classifier&, const SlowCall&);
// The probe whose function was called.
ProbeId probe_of(const Model&, const SlowCall&);
// What such calls are to the user: "hit" where only places were reached, "slow call" where all were
// beyond a threshold, else "call".
std::string_view noun_of(std::span<const SlowCall* const>);
bool is_span(const Model&, const SlowCall&);
// Whether its `parked_ns` is known: nothing tells of a goroutine or a task whose switches were not
// watched. Of `queued_ns` there may be something all the same: before anybody worked for it.
bool is_park_known(const Model&, const SlowCall&);
// Where the call spent its time, as far as samples in it tell.
struct CallPlace {
    StackId stack;
    bool waited = false; // longer than all its samples on the CPU are: the stack is of that wait
    size_t samples = 0;  // on the CPU, else
};
// Looks at all samples; nothing when none lies in the call.
std::optional<CallPlace> main_place_of(const Model&, const SlowCall&);

} // namespace auger
