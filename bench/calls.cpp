// SPDX-License-Identifier: GPL-3.0-or-later
// ns of a timed call beside a pair of programs that do nothing on the same places, by the
// function's first instruction and by the way out; and the same for calls that the target or a
// filter leaves out.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/probing.h"
#include "bench/report.h"

#include <fmt/format.h>

#include <map>

namespace auger::bench {

namespace {

const std::vector<std::string> functions = {"starts_push", "starts_endbr", "starts_sub",
                                            "starts_nop5", "starts_mov"};
// Calls that are left out are measured on this one alone.
const std::string plain = functions.front();
constexpr int rounds = 31;

// By function, one value a round.
using Measured = std::map<std::string, Series>;

struct Way {
    ExitWay exit;
    const char* name;
    uint64_t calls; // a round: some ms
};

struct Figures {
    Measured empty, timed, not_target, filtered;
};

Figures measure(Tracker& tracker, const EmptyPrograms& empty, Called& called, const Way& way) {
    Functions places = Functions::find(Called::path(), functions);
    std::vector<SpecId> specs;
    AttachmentRequest request = tracker.request(places, way.exit, AttachWay::multi, specs);
    Figures figures;
    auto call_all = [&](Measured& into) {
        for (const std::string& function : functions) {
            called.call(function, way.calls / 10); // the first calls find cold caches
            into[function].push_back(called.call(function, way.calls));
        }
    };
    auto call_plain = [&](Measured& into) {
        called.call(plain, way.calls / 10);
        into[plain].push_back(called.call(plain, way.calls));
    };
    for (int round = 0; round < rounds; round++) {
        {
            auto links = empty.attach(request);
            call_all(figures.empty);
        }
        Attachment attachment = take(Attachment::make(tracker.programs(), request));
        tracker.observe(called.pid());
        call_all(figures.timed);
        tracker.set_filter(WIRE_FILTER_TID); // and none has passed it
        call_plain(figures.filtered);
        tracker.set_filter(0);
        tracker.forget(called.pid());
        call_plain(figures.not_target);
    }
    tracker.release(specs);
    return figures;
}

void print(const Way& way, const Figures& figures) {
    begin_table(fmt::format("A timed call, {}", way.name),
                "ns of CPU time a call, beside a pair of empty programs on the same places.",
                "timed", "empty pair");
    for (const std::string& function : functions)
        print_row(function, figures.timed.at(function), figures.empty.at(function), "ns", 1.15);
    print_row("left out: not in the target", figures.not_target.at(plain), figures.empty.at(plain),
              "ns");
    print_row("left out: by a filter (thread)", figures.filtered.at(plain), figures.empty.at(plain),
              "ns");
    begin_table(fmt::format("endbr64 beside push, {}", way.name), "ns a timed call.",
                "starts_endbr", "starts_push");
    print_row("timed", figures.timed.at("starts_endbr"), figures.timed.at(plain), "ns", 1.05);
}

} // namespace

void bench_calls(const Features& features) {
    Tracker tracker(features);
    EmptyPrograms empty(features);
    Called called;
    if (features.uprobe_session) {
        Way session{ExitWay::session, "session link", 4'000};
        print(session, measure(tracker, empty, called, session));
    } else {
        begin_table("A timed call, session link", "", "timed", "empty pair");
        print_skipped("all", "this kernel has no session links (Linux 6.13)");
    }
    Way instructions{ExitWay::instructions, "exit instructions", 400};
    print(instructions, measure(tracker, empty, called, instructions));
}

} // namespace auger::bench
