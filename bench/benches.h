// SPDX-License-Identifier: GPL-3.0-or-later
// The benches of bench_kernel, one a file. Each prints a table or two, and throws what keeps it
// from measuring.
#pragma once

#include "loader/kernel/features.h"

namespace auger::bench {

void bench_calls(const Features& features); // a timed call beside an empty program; filter misses
void bench_peers(const Features& features); // ... beside bpftrace and funclatency
void bench_exits(const Features& features); // ... by the way out
void bench_split(const Features& features); // a timed call with its samples split beside only timed
void bench_spans(const Features& features); // a span's beginning and end
void bench_exchanges(const Features& features);  // a server whose exchanges are watched
void bench_values(const Features& features);     // arguments read and predicates asked of calls
void bench_call_sites(const Features& features); // calls from one line, and a watched line
void bench_attach(const Features& features);     // 1,000 functions on and off
void bench_off_cpu(const Features& features);    // a context switch whose wait is watched
void bench_sampling(const Features& features); // what sampling costs the target, beside perf record
void bench_stacks(const Features& features);   // a sample's stack by tables, and by frame pointers
void bench_python(const Features& features);   // ... with frames of Python

} // namespace auger::bench
