// SPDX-License-Identifier: GPL-3.0-or-later
// ns of a timed call by the way out, of a function that is left behind the stack protector's jump.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/probing.h"
#include "bench/report.h"

namespace auger::bench {

namespace {

constexpr int rounds = 31;
constexpr uint64_t calls = 2'000; // a round
const std::string function = "leaves_guarded";

} // namespace

void bench_exits(const Features& features) {
    begin_table("A timed call, by the way out",
                "ns of CPU time a call of a function that is left behind a conditional jump.",
                "way", "beside");
    if (!features.uprobe_session) {
        print_skipped("all", "this kernel has no session links (Linux 6.13)");
        return;
    }
    Tracker tracker(features);
    Called called;
    const Functions places = Functions::find(Called::path(), std::vector{function});
    std::vector<SpecId> specs;
    const auto request = [&](ExitWay exit, Tracker::Exits exits) {
        return tracker.request(places, exit, AttachWay::multi, specs, exits);
    };
    const AttachmentRequest trampoline = request(ExitWay::session, Tracker::Exits::rets);
    const AttachmentRequest cheap = request(ExitWay::instructions, Tracker::Exits::cheap);
    const AttachmentRequest ret = request(ExitWay::instructions, Tracker::Exits::rets);
    tracker.observe(called.pid());
    const auto measure = [&](const AttachmentRequest& way, Series& into) {
        Attachment attachment = take(Attachment::make(tracker.programs(), way));
        called.call(function, calls / 10); // the first calls find cold caches
        into.push_back(called.call(function, calls));
    };
    Series by_trampoline, by_cheap, by_ret;
    for (int round = 0; round < rounds; round++) {
        measure(trampoline, by_trampoline);
        measure(cheap, by_cheap);
        measure(ret, by_ret);
    }
    tracker.release(specs);
    print_row("cheap, beside trampoline", by_cheap, by_trampoline, "ns", 1.3);
    print_row("ret, beside trampoline", by_ret, by_trampoline, "ns");
}

} // namespace auger::bench
