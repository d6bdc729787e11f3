// SPDX-License-Identifier: GPL-3.0-or-later
// What sampling costs the target: work done per CPU second, and context switches, without it, under
// auger's sampler and under perf record with the same rate and stacks by frame pointers.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/perf_record.h"
#include "bench/probing.h"
#include "bench/report.h"
#include "bench/scratch_folder.h"

#include "loader/kernel/live_backend.h"
#include "views/model/model.h"

#include <poll.h>

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

namespace auger::bench {

namespace {

constexpr int rounds = 9;
constexpr uint64_t milliseconds = 400;
constexpr int frames = 20;
constexpr const char* no_perf = "perf is not installed (package linux-perf)";

// Lets the target work while the console does its own.
double work(Called& called, Backend& backend) {
    called.begin_work(milliseconds, frames);
    bool answered = false;
    while (!answered) {
        take(backend.poll(std::chrono::milliseconds(20), called.answer_fd()));
        pollfd waiting = {called.answer_fd(), POLLIN, 0};
        answered = poll(&waiting, 1, 0) > 0;
    }
    return called.end_work();
}

// Of threads that switch all the time, whose clocks would be stopped and started as often.
void bench_switches(Called& called, Backend& backend, const std::string& perf,
                    const std::string& file) {
    constexpr uint32_t rate_hz = 99;
    constexpr uint64_t switches = 20'000;
    constexpr int shallow = 5;
    // In which auger sees how often they do.
    constexpr auto settling = std::chrono::milliseconds(2'500);
    take(backend.set_sampling({rate_hz, false}));
    for (const auto begin = std::chrono::steady_clock::now();
         std::chrono::steady_clock::now() - begin < settling;) {
        called.switch_threads(switches, shallow);
        take(backend.poll(std::chrono::milliseconds(0), -1));
    }
    Series base, ours, theirs;
    std::string missing = perf.empty() ? no_perf : "";
    try {
        for (int round = 0; round < rounds; round++) {
            ours.push_back(called.switch_threads(switches, shallow));
            take(backend.set_sampling({}));
            base.push_back(called.switch_threads(switches, shallow));
            if (missing.empty()) {
                // Its clocks cost something while they are disabled, too.
                PerfRecord record(perf, called.pid(), rate_hz, "fp", file);
                record.tell("enable");
                theirs.push_back(called.switch_threads(switches, shallow));
                record.tell("disable");
            }
            take(backend.set_sampling({rate_hz, false}));
        }
    } catch (const std::runtime_error& error) {
        missing = error.what();
    }
    take(backend.set_sampling({}));
    begin_table("A context switch of a thread that is sampled",
                "ns of CPU time a switch, two threads over pipes on one CPU, at 99 Hz.", "sampled",
                "not sampled");
    print_row("auger", ours, base, "ns", 1.02);
    if (missing.empty())
        print_row("perf record", theirs, base, "ns");
    else
        print_skipped("perf record", missing);
}

} // namespace

void bench_sampling(const Features&) {
    constexpr uint32_t rates[] = {99, 999, 9'999};
    Called called;
    Model model;
    auto backend = take(make_live_backend({}, model));
    TargetSpec target;
    target.kind = TargetSpec::Kind::pids;
    target.pids = {called.pid()};
    take(backend->set_target(target));
    std::string perf = find_program("perf");
    ScratchFolder scratch;

    begin_table("The target's slowdown by sampling",
                "CPU time for the same work, beside not being sampled: 1.01 is 1 % slower.",
                "sampled", "not sampled");
    for (uint32_t rate : rates) {
        Series base, ours, theirs;
        std::string missing = perf.empty() ? no_perf : "";
        std::optional<PerfRecord> record;
        try {
            if (missing.empty())
                record.emplace(perf, called.pid(), rate, "fp",
                               fmt::format("{}/perf.{}", scratch.path(), rate));
            for (int round = 0; round < rounds; round++) {
                // ns of CPU time a step.
                base.push_back(1e9 / work(called, *backend));
                take(backend->set_sampling({rate, false}));
                ours.push_back(1e9 / work(called, *backend));
                take(backend->set_sampling({}));
                if (missing.empty()) {
                    record->tell("enable");
                    theirs.push_back(1e9 / work(called, *backend));
                    record->tell("disable");
                }
            }
        } catch (const std::runtime_error& error) {
            missing = error.what();
        }
        print_row(fmt::format("auger, {} Hz", rate), ours, base, "ns");
        if (missing.empty()) {
            print_row(fmt::format("perf record, {} Hz", rate), theirs, base, "ns");
            print_row(fmt::format("auger beside perf record, {} Hz", rate), ours, theirs, "ns",
                      1.05);
        } else {
            print_skipped(fmt::format("perf record, {} Hz", rate), missing);
        }
    }
    bench_switches(called, *backend, perf, fmt::format("{}/perf.switches", scratch.path()));
    take(backend->refresh());
    const LedgerEvent& ledger = model.ledger();
    fmt::print("\nauger's samples: {} of {} ticks; lost: {}\n", ledger.samples, ledger.ticks,
               ledger.ticks - ledger.samples - ledger.filtered);
}

} // namespace auger::bench
