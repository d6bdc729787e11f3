// SPDX-License-Identifier: GPL-3.0-or-later
// How long it takes from auger's start to a flame whose stacks are whole and whose frames have
// names, of a process that maps 200 MB of libraries: without and with tables in the cache.
#pragma once

namespace auger::bench {

void bench_start_up();

} // namespace auger::bench
