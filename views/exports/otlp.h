// SPDX-License-Identifier: GPL-3.0-or-later
// OpenTelemetry's profiles, as one message ProfilesData of opentelemetry-proto 1.11.0 (package
// opentelemetry.proto.profiles.v1development), which is what a request of OTLP has in it, too:
// https://github.com/open-telemetry/opentelemetry-proto
#pragma once

#include "views/exports/export.h"
#include "views/exports/profile_size.h"

namespace auger {

// A resource for each service on a host and, where they run in one, container. It has up to three
// profiles, since each has one type of values: `samples` (count) of CPU time, with the time that
// one stands for as the period, from which stores make CPU time; `cpu` and `off_cpu` (nanoseconds),
// the latter of waits. Attributes of samples: class, probe (the innermost timed call around),
// process, wait (blocked, runnable), thread.name and thread.id. What is lost stands in the
// profiles' comments (`pprof.profile.comment`). Their time is as pprof's. Returns the number of
// samples.
Result<uint64_t> write_otlp(const Model&, const ExportQuery&, ByteSink&);
// The same. Its entries are those of the largest profile.
ProfileSize write_sized_otlp(const Model&, const ExportQuery&, ByteSink&);

} // namespace auger
