// SPDX-License-Identifier: GPL-3.0-or-later
// Collapsed stacks: "label;outer;inner 12" a line, root first, as flame graph tools read them.
// Counts are samples, not ns: some importers expand them.
#pragma once

#include "views/model/fold.h"

#include <string>
#include <string_view>

namespace auger {

// A frame as these tools bear it: no ';', no line breaks; '(anonymous namespace)::f' and whatever
// else begins with '(' would be dropped, so that becomes '{anonymous}::f'; never empty.
std::string folded_frame(std::string_view raw);

// Every line ends with '\n'; sorted. A label of one character gets a trailing '_'. Counts are of
// samples; of ticks of the sampling clock where waits are among them.
std::string folded_stacks(const Model&, const Window&, const ClassFilter& filter = {},
                          GroupBy by = GroupBy::process, const std::string& under = {});

} // namespace auger
