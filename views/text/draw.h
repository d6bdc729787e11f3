// SPDX-License-Identifier: GPL-3.0-or-later
// What the text views share: bars, headings and the names of probes and threads.
#pragma once

#include "views/text/views.h"

namespace auger {

inline constexpr size_t min_width = 40;

// `share` of `width` columns, in eighths of a column where Unicode has them; padded to nothing.
std::string bar(double share, size_t width, bool unicode);

Style style_of(CallClass);
// A dash between parts, an arrow between frames, ... in the characters that are allowed.
std::string_view arrow(bool unicode);      // " > "
std::string_view plus_minus(bool unicode); // "+-"
std::string_view ellipsis(bool unicode);

// "handle", or "#3" when the probe is unknown.
std::string probe_text(const Model&, ProbeId);
// "p95 = 5.23 ms", "10.0 ms", "p95 (37 of 100 calls)".
std::string threshold_text(const Threshold&, const ThresholdState&);
// "handle > p95 = 5.23 ms" of the split in force; empty without one.
std::string split_text(const Model&);

// The first line of a view, with window and split, and a warning while the threshold has no value.
Canvas start_view(const Model&, const ViewOptions&, std::string_view title, uint64_t from_ns,
                  bool with_split);
Canvas start_view(const Model&, const ViewOptions&, std::string_view title, bool with_split);
// "slow 12 (3.4 %)  fast ..." on a line of its own; nothing without a split.
void add_classes(Canvas&, const Model&, const ClassSums&);

// The stack's frames, leaf first, one a line; of a deep one the first 16.
void add_frames(Canvas&, const Model&, const ViewOptions&, std::span<const LocationId> stack);

// "main.cc:1312", "" when unknown. Only the file's base name.
std::string source_text(const SymbolTables&, const FrameEntry&);

} // namespace auger
