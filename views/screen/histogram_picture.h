// SPDX-License-Identifier: GPL-3.0-or-later
// A histogram as it is drawn: figures, bars with the threshold and the user's place among them, the
// axis, and where the percentiles lie.
#pragma once

#include "views/screen/area.h"
#include "views/screen/histogram_layout.h"

namespace auger {

// What is shown of one timed function.
struct TimedCalls {
    ProbeId probe;
    std::string text;         // of the probe, raw
    std::string tail;         // see tail_text()
    size_t index = 0, of = 0; // among the timed ones
    CallStatistics calls;
    bool counted = false;       // see Model::is_counted()
    ThresholdState split, slow; // in force on this probe
    bool has_split = false;     // by duration
};

struct HistogramPicture {
    TimedCalls shown;
    HistogramLayout layout;
    bool by_time = false; // bars by the time that calls took, else by their number
    std::optional<uint32_t> cursor, anchor; // buckets: they stay when bars change
    double highest = 0;                     // bar

    double height_of(const HistogramRow&) const;
    // Buckets, from the anchor to the cursor; there must be a bar and a cursor.
    std::pair<uint32_t, uint32_t> range() const;

    // Returns the row below it.
    size_t draw_head(Area&) const;
    void draw_bars(Area&, bool focused) const;
    void draw_axis(Area&, size_t y) const;
    void draw_marks(Area&, size_t y) const;

  private:
    struct Mark {
        std::string text;
        uint32_t bucket;
        Style style;
    };
    std::vector<Mark> marks() const;
    bool beyond_split(size_t bar) const;
};

} // namespace auger
