// SPDX-License-Identifier: GPL-3.0-or-later
// Names as line-based formats bear them, whose importers split lines at blanks, ';' and
// parentheses.
#pragma once

#include <string>
#include <string_view>

namespace auger {

// A frame: no ';', no line breaks; '(anonymous namespace)::f' and whatever else begins with '('
// would be dropped, so that becomes '{anonymous}::f'; never empty.
std::string frame_text(std::string_view raw);
// A frame in perf's text, where importers cut off "+0x1f0e0": an offset, which in the names of
// functions that have none is all that tells them apart. It becomes "@0x1f0e0".
std::string perf_frame_text(std::string_view raw);
// The name of a process or thread: like a frame; one of one character, which importers do not
// recognise, gets a trailing '_'.
std::string label_text(std::string_view raw);

} // namespace auger
