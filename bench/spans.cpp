// SPDX-License-Identifier: GPL-3.0-or-later
// ns of a span's beginning and end, beside a pair of programs that do nothing on the same places:
// keyed by the thread, and by a value.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/probing.h"
#include "bench/report.h"

#include "loader/kernel/call_programs.h"

#include <fmt/format.h>

namespace auger::bench {

namespace {

constexpr int rounds = 31;
constexpr uint64_t calls = 400;
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

void measure(Tracker& tracker, const EmptyPrograms& empty, Called& called, bool keyed) {
    const Functions places = Functions::find(Called::path(), function);
    const PlaceMatch& match = places.matches.front();
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
    for (const auto& [role, offset] : {std::pair{WIRE_SPAN_BEGIN, match.entry.file_offset},
                                       std::pair{WIRE_SPAN_END, match.exits.front().file_offset}}) {
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
        request.entries.add(offset, tracker.specs().cookie(point));
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
    print_row(keyed ? "keyed by a value" : "keyed by the thread", spans, nothing, "ns", 1.4);
}

} // namespace

void bench_spans(const Features& features) {
    Tracker tracker(features);
    EmptyPrograms empty(features);
    Called called;
    begin_table("A span's beginning and end",
                "ns of CPU time a span, beside a pair of empty programs on the same places.",
                "span", "empty pair");
    for (const bool keyed : {false, true})
        measure(tracker, empty, called, keyed);
}

} // namespace auger::bench
