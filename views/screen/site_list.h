// SPDX-License-Identifier: GPL-3.0-or-later
// The answer of `sites`, with lines to choose: each is a probe on the calls that are made from
// there.
#pragma once

#include "views/screen/pager.h"

#include <optional>
#include <string>
#include <vector>

namespace auger {

// `function`: in full, without its library: another of that name is hardly called from the line.
void mark_sites(std::vector<PagerLine>& lines, const std::string& function);

// The line of the site by which it was called where the user came from: by place ("main.cc:12"),
// or else by the nearest caller's name; nothing where none fits.
std::optional<size_t> find_site(const std::vector<PagerLine>& lines,
                                const std::vector<std::string>& places, const std::string& caller);

} // namespace auger
