// SPDX-License-Identifier: GPL-3.0-or-later
// Spans that a program marks itself, with the points of auger.h: USDT probes of the provider
// `auger`, NAME__begin, NAME__end, NAME__park and NAME__resume, each with the span's id.
#pragma once

#include "loader/reports/usdt_probes.h"

#include <string>
#include <vector>

namespace auger {

inline constexpr const char* marks_pattern = "auger:*";

struct MarkedSpan {
    std::string name;
    std::string definition; // what stands behind `span NAME`
};
struct MarkedSpans {
    std::vector<MarkedSpan> spans;     // by name
    std::vector<std::string> left_out; // each a name and why
};

MarkedSpans marked_spans(const UsdtProbes& probes);

} // namespace auger
