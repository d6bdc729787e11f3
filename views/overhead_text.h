// SPDX-License-Identifier: GPL-3.0-or-later
// What observing costs, in words.
#pragma once

#include "loader/stream/events.h"

#include <string>
#include <string_view>
#include <vector>

namespace auger {

class Model;

// "samples", "waits", "probe", "lines"
std::string_view overhead_kind(Overhead::Cause::Kind kind);
// "samples", "waits", "probe 1 (handle)", "lines of split and only"; escaped.
std::string overhead_cause(const Model& model, const Overhead::Cause& cause);
uint64_t overhead_cost(const Overhead& overhead); // of all causes
// Of the target's CPU time: 0 to 1.
double overhead_share(const Overhead& overhead, uint64_t cost_ns);
// Of one CPU, over the time that was measured; may be beyond 1, of several threads.
double overhead_of_a_cpu(const Overhead& overhead);
// Events of the cause in a second.
double overhead_rate(const Overhead& overhead, const Overhead::Cause& cause);
// "999 a second of 2.31 us each"; "about" where they are estimates.
std::string overhead_figures(const Overhead& overhead, const Overhead::Cause& cause);
bool is_measured(const Overhead::Cause& cause);
// What a probe's hits took; null: it had none, or nothing was measured.
const Overhead::Cause* overhead_of(const Overhead& overhead, ProbeId probe);
// The dearest first.
std::vector<Overhead::Cause> dearest_causes(const Overhead& overhead);

} // namespace auger
