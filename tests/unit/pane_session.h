// SPDX-License-Identifier: GPL-3.0-or-later
// A made-up session for tests of panes: a service whose slow calls of `handle` scan or wait, three
// timed functions, slow calls of recv, waits, threads, and names that mean harm.
#pragma once

#include "tests/support/durations.h"
#include "tests/unit/synthetic_stream.h"
#include "views/model/model.h"

#include <random>

namespace auger {

struct PaneSession {
    Model model{20'000, 500};
    SyntheticStream stream{model};
    SpecId handle, recv, parse_probe;
    uint64_t requests = 0;
    std::mt19937 random{42};

    PaneSession() {
        handle = stream.probe(1, "handle");
        recv = stream.probe(2, "libc:recv", stream.fixed(5 * ms));
        parse_probe = stream.probe(3, "ns::parse<int>");
        stream.split(1, stream.percentile(95));
    }

    StackId path(std::vector<std::string> rest) {
        std::vector<std::string> all = {"_start", "worker", "handle"};
        all.insert(all.end(), rest.begin(), rest.end());
        return stream.stack(all);
    }

    // Ten milliseconds each; each 25th scans, and one in a hundred waits in recv.
    void serve(uint64_t more) {
        std::vector<uint64_t> durations, parses;
        for (const uint64_t end = requests + more; requests < end;) {
            const uint64_t i = ++requests, start = i * 10 * ms;
            const bool scans = i % 25 == 0, waits = i % 100 == 7;
            const uint64_t duration =
                800 * us + random() % (400 * us) + (scans ? 6 * ms : 0) + (waits ? 8 * ms : 0);
            const CallKey call = stream.call(handle, start);
            const uint32_t tid = 101 + i % 3;
            bool sampled = false;
            for (uint64_t at = random() % ms; at < duration; at += ms, sampled = true) {
                const StackId parse = path({"parse"}), reply = path({"respond", "send", "k:tcp"});
                const StackId stack = at < 300 * us   ? parse
                                      : at < 800 * us ? reply
                                      : scans         ? path({"respond", "lookup(Request const&)",
                                                              "full_scan\x1b[2J\u202e(std::vector<int>&)"})
                                      : waits         ? path({"recv", "k:schedule"})
                                                      : reply;
                stream.sample(start + at, tid, stack, {call}, 1'001'001,
                              waits && at >= 800 * us ? SampleKind::blocked : SampleKind::cpu);
            }
            if (sampled)
                stream.end(tid, call, duration);
            durations.push_back(duration);
            parses.push_back(100 * us + random() % (200 * us));
            if (i % 7 == 0)
                stream.sample(start + 9 * ms, 104, stream.stack({"_start", "idle"}), {}, 1'001'001);
            if (waits)
                slow_call(tid, start + us, 8 * ms + i * us, call);
            if (i % 50 == 0 || i == end) {
                stream.stats(start, handle, durations);
                stream.stats(start, parse_probe, parses);
                stream.stats(start, recv, std::vector<uint64_t>(durations.size(), 40 * us));
                durations.clear();
                parses.clear();
            }
            model.on_time(start + 10 * ms);
        }
        stream.ledger(model.now_ns());
    }

    void slow_call(uint32_t tid, uint64_t start, uint64_t duration, const CallKey& around) {
        model.on_slow_call({{start + duration, duration, stream.thread(tid, "wor\x1bker"),
                             CallKey{start, ++slow_calls, recv}, 8, slow_calls % 5 == 0,
                             CallWaits{7 * ms, ms / 4}},
                            5 * ms,
                            path({"recv", "k:schedule"}),
                            {7 * ms, "recvfrom(9) tcp 127.0.0.1:80 -> 127.0.0.1:4711"},
                            {{"fd", "9 (tcp 127.0.0.1:80 -> 127.0.0.1:4711)"},
                             {"name", "\"evil\x07\x1b]0;x\""},
                             {"buf", "page not present", false},
                             {"ret", "-1"}},
                            {&around, 1}});
    }
    uint32_t slow_calls = 0;
};

} // namespace auger
