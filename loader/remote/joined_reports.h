// SPDX-License-Identifier: GPL-3.0-or-later
// One report of what several hosts say: what they have in common is said once, and what only some
// say names them. Pure. Changes with loader/reports.
#pragma once

#include "loader/base/result.h"
#include "loader/remote/requests.h"

#include <string>
#include <utility>
#include <vector>

namespace auger::remote {

// By host, in their order; one at least.
template <typename T>
using OfHosts = std::vector<std::pair<std::string, T>>;

ProbeReport joined(const OfHosts<ProbeReport>&);
ProbePlan joined(const OfHosts<ProbePlan>&);
CallSites joined(const OfHosts<CallSites>&);
UsdtProbes joined(const OfHosts<UsdtProbes>&);
Listeners joined(const OfHosts<Listeners>&);
Tracepoints joined(const OfHosts<Tracepoints>&);
UnwindStatus joined(const OfHosts<UnwindStatus>&);
ReaderStatus joined(const OfHosts<ReaderStatus>&);
SymbolProgress joined(const OfHosts<SymbolProgress>&);
std::vector<Capability> joined(const OfHosts<std::vector<Capability>>&);
// Of those that refused what `asked` hosts were asked for.
Error joined(const OfHosts<Error>&, size_t asked);

} // namespace auger::remote
