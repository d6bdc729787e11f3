// SPDX-License-Identifier: GPL-3.0-or-later
// What the text views share: bars, headings and the names of probes and threads.
#pragma once

#include "views/model/class_table.h"
#include "views/text/views.h"

namespace auger {

inline constexpr size_t min_width = 40;

// `share` of `width` columns, in eighths of a column where Unicode has them; padded to nothing.
std::string bar(double share, size_t width, bool unicode);

Style style_of(CallClass);
Style style_of(const ClassFilter&); // by duration; plain when that is not asked for
// A dash between parts, an arrow between frames, ... in the characters that are allowed.
std::string_view arrow(bool unicode);      // " > "
std::string_view plus_minus(bool unicode); // "+-"
std::string_view ellipsis(bool unicode);

// "handle", without its parameters; "#3" when the probe is unknown.
std::string probe_text(const Model&, ProbeId);
// The probe of a call of the function, with what the call's time lacks.
std::string call_text(const Model&, SpecId function);
// "p95 = 5.23 ms", "10.0 ms", "p95 (37 of 100 calls)".
std::string threshold_text(const Threshold&, const ThresholdState&);
// "slow > 10.0 ms if ret < 0 show fd, len", "slow NAME > p95 = 5.23 ms", "trace NAME if arg0 > 1":
// which calls of a probe are traced.
std::string tracing_text(const ProbeInfo&, const ThresholdState&, const std::string& name = {});
// "handle > p95 = 5.23 ms at main.cc:1290 by req->type" of the split in force; empty without one.
std::string split_text(const Model&);

// Why a split whose threshold is too short for samples to see cannot be believed, and what to do.
std::string unseen_split_text(const Model&);
// The first line of a view, with window and split, and a warning while the threshold has no value.
Canvas start_view(const Model&, const ViewOptions&, std::string_view title, uint64_t from_ns,
                  bool with_split);
Canvas start_view(const Model&, const ViewOptions&, std::string_view title, bool with_split);
// "slow 12 (3.4 %)  fast ..." on a line of its own, and likewise the classes by branch and value
// with their calls; nothing without a split.
void add_classes(Canvas&, const Model&, const Classifier&, const Window&);
// The latter alone: classes by branch and by value.
void add_combined_classes(Canvas&, const Model&, const ClassTable&, const Window&, size_t indent);
// How many samples `only` leaves out of a view, if any.
void add_left_out(Canvas&, const Model&, const Classifier&, const Window&);

// Parts after each other, as many as fit a line; each begins with a word in its style.
struct Part {
    std::string word;
    std::string rest;
    Style style = Style::plain;
};
void add_parts(Canvas&, const std::vector<Part>&, size_t indent = 0);

// The stack's frames, leaf first, one a line; and how many are not shown.
void add_frames(Canvas&, const SymbolTables&, bool unicode, std::span<const LocationId> stack,
                const StackOptions& options, size_t indent);
// "waits in recvfrom(9) ..." of ThreadNow::wait; "stopped".
std::string wait_line(const std::string& wait);
// A slow call's values and what it waited for, as far as known.
void add_call_facts(Canvas&, const Model&, const SlowCall&, size_t indent);

// "main.cc:1312", "" when unknown. Only the file's base name.
std::string source_text(const SymbolTables&, const FrameEntry&);

} // namespace auger
