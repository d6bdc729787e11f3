// SPDX-License-Identifier: GPL-3.0-or-later
// How the ends of a place's calls are seen, in words for the user.
#pragma once

#include "loader/kernel/attachment.h"
#include "loader/probes/place_match.h"
#include "loader/stream/observed_exit.h"

#include <string>

namespace auger {

// As in SpecInfo::way_out. `exits`: of the match, those that are probed.
ObservedExit way_out_of(const PlaceMatch& match, ExitWay exit, const std::vector<ExitPlace>& exits);
// As in ProbePlace::kind: "entry+ret", "entry+ret (cheap)", "call+return (stepped)".
std::string place_kind(const PlaceMatch& match, ExitWay exit, const std::vector<ExitPlace>& exits);

} // namespace auger
