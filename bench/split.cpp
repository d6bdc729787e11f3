// SPDX-License-Identifier: GPL-3.0-or-later
// What the split adds to timing: samples at 999 Hz that carry the calls they were taken in, and the
// end of each call that held one; beside the same calls, only timed.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/probing.h"
#include "bench/report.h"

#include "loader/kernel/event_ring.h"
#include "loader/kernel/sampling.h"

#include <fmt/format.h>

namespace auger::bench {

namespace {

constexpr int rounds = 21;
constexpr uint32_t rate_hz = 999;

void measure(Tracker& tracker, EventRing& ring, Called& called, const Features& features,
             ExitWay way, const std::string& name, uint64_t calls) {
    Functions places = Functions::find(Called::path(), "starts_push");
    std::vector<SpecId> specs;
    Attachment attachment = take(Attachment::make(
        tracker.programs(), tracker.request(places, way, AttachWay::multi, specs)));
    Series timed, split;
    uint64_t samples = 0, with_calls = 0, ends = 0;
    const pid_t pid = called.pid();
    for (int round = 0; round < rounds; round++) {
        timed.push_back(called.call("starts_push", calls));
        Sampling sampling = take(Sampling::per_process(tracker.programs(), rate_hz,
                                                       features.hardware_cycles, {&pid, 1}));
        sampling.start();
        split.push_back(called.call("starts_push", calls));
        sampling.stop();
        ring.collect();
        ring.drain(TimeSlice::endless(), [&](const WireView& view) {
            if (const auto* sample = std::get_if<WireSampleView>(&view)) {
                samples++;
                with_calls += !sample->calls.empty();
            } else if (std::holds_alternative<WireCallEndView>(view)) {
                ends++;
            }
            return true;
        });
    }
    print_row(
        fmt::format("{}; {} samples, {} within a call, {} ends", name, samples, with_calls, ends),
        split, timed, "ns", 1.1);
    tracker.release(specs);
}

} // namespace

void bench_split(const Features& features) {
    Tracker tracker(features);
    Called called;
    tracker.observe(called.pid());
    auto ring = take(EventRing::make(tracker.programs().map_fd(MapKind::events)));
    begin_table("The split beside timing alone",
                "ns a call of starts_push, called without pause; samples at 999 Hz.", "split",
                "only timed");
    if (features.uprobe_session)
        measure(tracker, *ring, called, features, ExitWay::session, "session link", 60'000);
    else
        print_skipped("session link", "this kernel has none (Linux 6.13)");
    measure(tracker, *ring, called, features, ExitWay::instructions, "exit instructions", 3'000);
}

} // namespace auger::bench
