// SPDX-License-Identifier: GPL-3.0-or-later
// ns of a span's beginning and end, beside a pair of programs that do nothing on the same places:
// keyed by the thread, and by a value; and what the marks of auger.h cost, watched and not.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/probing.h"
#include "bench/report.h"

#include "loader/kernel/call_programs.h"

#include <array>
#include <string>

namespace auger::bench {

namespace {

constexpr int rounds = 31;
constexpr uint64_t calls = 400, unwatched_calls = 2'000'000;
constexpr const char* function = "starts_push";

// A program whose key is a number that needs no reading.
CallProgram constant_key() {
    CallProgram program;
    program.wire.fetches = 1;
    program.wire.fetch[0].base = WIRE_BASE_CONSTANT;
    program.wire.fetch[0].offsets = 1;
    program.wire.fetch[0].size = 8;
    program.wire.fetch[0].constant = 0x5afe;
    program.wire.label = 0;
    return program;
}

void measure(const std::string& what, const char* function, const Functions& places,
             std::array<std::pair<uint64_t, uint64_t>, 2> points, Tracker& tracker,
             const EmptyPrograms& empty, Called& called, bool keyed) {
    CallPrograms programs(tracker.programs());
    std::vector<SpecId> specs;
    const auto add = [&](const SpecSettings& settings) {
        specs.push_back(take(tracker.specs().add(settings)));
        return specs.back();
    };
    SpecSettings own;
    own.is_span = true;
    const uint64_t span = tracker.specs().cookie(add(own));
    AttachmentRequest request;
    request.file_fd = places.file->fd();
    request.exit = ExitWay::point;
    request.subject = places.file->name();
    for (const auto& [role, point_at] :
         {std::pair{WIRE_SPAN_BEGIN, points[0]}, std::pair{WIRE_SPAN_END, points[1]}}) {
        SpecSettings settings;
        settings.point.spec = span & WIRE_COOKIE_SPEC_MASK;
        settings.point.generation = static_cast<uint16_t>(span >> WIRE_COOKIE_GENERATION_SHIFT);
        settings.point.role = static_cast<uint8_t>(role);
        settings.point.flags = keyed ? WIRE_SPAN_KEYED : 0;
        const SpecId point = add(settings);
        if (keyed) {
            Transaction edit;
            settings.program = take(programs.enter(point, constant_key(), edit));
            edit.commit();
            take(tracker.specs().set(point, settings));
        }
        const auto& [offset, semaphore] = point_at;
        request.entries.add(offset, tracker.specs().cookie(point), semaphore);
    }
    Series nothing, spans;
    for (int round = 0; round < rounds; round++) {
        {
            auto links = empty.attach(request);
            called.call(function, calls / 10);
            nothing.push_back(called.call(function, calls));
        }
        Attachment attachment = take(Attachment::make(tracker.programs(), request));
        tracker.observe(called.pid());
        called.call(function, calls / 10);
        spans.push_back(called.call(function, calls));
        tracker.forget(called.pid());
    }
    tracker.release(specs);
    print_row(what, spans, nothing, "ns", 1.4);
}

// A mark that nobody watches: a function with two of them, and without.
void measure_unwatched(Called& called) {
    Series with, without, one;
    for (int round = 0; round < rounds; round++) {
        without.push_back(called.call("unmarked", unwatched_calls));
        with.push_back(called.call("marked", unwatched_calls));
        one.push_back((with.back() - without.back()) / 2);
    }
    begin_table("A mark that nobody watches",
                "ns of CPU time a call of a function that reads a number, with a span's beginning "
                "and end marked by auger.h, beside it without.",
                "marked", "unmarked");
    print_row("a call", with, without, "ns");
    print_absolute("one mark", one, "ns", 1);
}

} // namespace

void bench_spans(const Features& features) {
    Tracker tracker(features);
    EmptyPrograms empty(features);
    Called called;
    begin_table("A span's beginning and end",
                "ns of CPU time a span, beside a pair of empty programs on the same places.",
                "span", "empty pair");
    const Functions plain = Functions::find(Called::path(), function);
    const PlaceMatch& match = plain.matches.front();
    for (const bool keyed : {false, true})
        measure(keyed ? "keyed by a value" : "keyed by the thread", function, plain,
                {{{match.entry.file_offset, 0}, {match.exits.front().file_offset, 0}}}, tracker,
                empty, called, keyed);
    const Functions begin = Functions::find(Called::path(), "usdt:auger:marked__begin"),
                    end = Functions::find(Called::path(), "usdt:auger:marked__end");
    const auto point = [](const Functions& at) {
        const PlaceMatch& mark = at.matches.front();
        return std::pair(mark.file_offset, mark.usdt->semaphore);
    };
    measure("marks of auger.h", "marked", begin, {point(begin), point(end)}, tracker, empty, called,
            true);
    measure_unwatched(called);
}

} // namespace auger::bench
