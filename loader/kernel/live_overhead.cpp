// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_overhead.h"

#include "loader/kernel/live_marks.h"
#include "loader/kernel/live_probes.h"
#include "loader/kernel/live_sampling.h"

#include <utility>

namespace auger {

namespace {

constexpr uint64_t span_ns = 1'000'000'000;

} // namespace

LiveOverhead::Counters LiveOverhead::read() const {
    Counters now;
    now.samples = programs_.sampler_counts();
    now.waits = programs_.wait_stats();
    now.go_switches = programs_.goroutine_switches();
    now.lost_wait_samples = programs_.losses()[WIRE_LOSS_RING_WAIT];
    const LiveMarks::Hits lines = marks_.hits(costs_);
    now.line_hits = lines.hits;
    now.line_ns = lines.cost_ns;
    now.specs = probes_.hits(costs_);
    now.goroutine_ends = programs_.other_hits()[WIRE_HITS_GOROUTINE_ENDS];
    return now;
}

void LiveOverhead::begin(uint64_t now_ns) {
    before_ = read();
    clock_.take();
    sampling_.take_clock_cost();
    begin_ns_ = now_ns;
}

bool LiveOverhead::update(uint64_t now_ns) {
    if (!begin_ns_ || now_ns < begin_ns_ + span_ns)
        return false;
    using Kind = Overhead::Cause::Kind;
    const Counters now = read();
    Overhead overhead;
    overhead.begin_ns = begin_ns_;
    overhead.end_ns = now_ns;
    overhead.target_ns = clock_.take();
    overhead.waits = now.waits.waits - before_.waits.waits;
    overhead.wait_samples = now.waits.samples - before_.waits.samples;
    overhead.waited_ns = now.waits.waited_ns - before_.waits.waited_ns;
    overhead.lost_samples = now.samples.lost - before_.samples.lost;
    overhead.lost_wait_samples = now.lost_wait_samples - before_.lost_wait_samples;
    const auto add = [&](Kind kind, ProbeId probe, uint64_t events, uint64_t cost_ns) {
        if (events > 0)
            overhead.causes.push_back({kind, probe, events, cost_ns});
    };
    add(Kind::samples, {}, now.samples.ticks - before_.samples.ticks,
        now.samples.own_ns - before_.samples.own_ns);
    const ThreadClocks::Cost clocks = sampling_.take_clock_cost();
    add(Kind::clocks, {}, clocks.switches, clocks.ns);
    const uint64_t switches = now.go_switches.of_target - before_.go_switches.of_target,
                   of_others = now.go_switches.of_others - before_.go_switches.of_others;
    last_go_switches_ = {switches, switches * costs_.emulated_ns, of_others,
                         of_others * costs_.emulated_ns};
    add(Kind::waits, {}, overhead.waits,
        now.waits.own_ns - before_.waits.own_ns + last_go_switches_.ns);
    struct Sum {
        uint64_t hits = 0, cost_ns = 0;
    };
    std::map<ProbeId, Sum> probes;
    // They are nobody's in particular.
    uint64_t goroutine_ends = now.goroutine_ends - before_.goroutine_ends;
    for (const auto& [spec, counted] : now.specs) {
        const auto former = before_.specs.find(spec);
        const SpecHits none{}, &last = former == before_.specs.end() ? none : former->second;
        Sum& sum = probes[counted.probe];
        sum.hits += counted.hits() - last.hits();
        sum.cost_ns += counted.cost_ns_since(last);
        if (counted.in_go) {
            const uint64_t ends = std::exchange(goroutine_ends, 0);
            sum.hits += ends;
            sum.cost_ns += ends * costs_.stepped_ns;
        }
    }
    for (const auto& [probe, sum] : probes)
        add(Kind::probe, probe, sum.hits, sum.cost_ns);
    if (now.line_hits > before_.line_hits && now.line_ns > before_.line_ns)
        add(Kind::lines, {}, now.line_hits - before_.line_hits, now.line_ns - before_.line_ns);
    before_ = now;
    begin_ns_ = now_ns;
    last_ = std::move(overhead);
    return true;
}

} // namespace auger
