// SPDX-License-Identifier: GPL-3.0-or-later
// The time strip as it is drawn: slow calls, samples, and what moments the columns are.
#pragma once

#include "views/model/timeline.h"
#include "views/screen/area.h"

#include <span>
#include <utility>

namespace auger {

struct StripPicture {
    std::span<const TimelineBucket> buckets; // at least one
    uint64_t bucket_ns = 1;
    size_t width = 0; // columns
    uint64_t first_ns = 0, now_ns = 0;
    Window window;         // in force
    bool by_class = false; // slow and fast are told apart
    // Where the user is: begin of a bucket; and from the other end of what is being selected.
    uint64_t cursor = 0;
    std::pair<uint64_t, uint64_t> span;
    bool selecting = false;

    std::optional<size_t> column_of(uint64_t time) const;

    void draw_slow_calls(Area&) const;
    void draw_samples(Area&) const;
    void draw_fills(Area&, bool focused) const;
    void draw_axis(Area&, size_t y, bool focused) const;
};

} // namespace auger
