// SPDX-License-Identifier: GPL-3.0-or-later
// ns that watching waits adds to a context switch: of other processes and of the target,
// with shallow and deep stacks; beside empty programs on the same places, and beside bpftrace
// doing the same.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/probing.h"
#include "bench/report.h"

#include "loader/kernel/off_cpu.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace auger::bench {

namespace {

constexpr int rounds = 15, peer_rounds = 3;
constexpr uint64_t switches = 10'000;
constexpr uint32_t rate_hz = 999;
constexpr int shallow = 5, deep = 45; // with those above and below some 10 and 50 frames

// The usual idiom: a stack is taken when the thread goes, and time is summed by stack. bpftrace
// looks for the tracepoint in tracefs, which is mounted for it alone where it is not there.
std::vector<std::string> bpftrace_command(const std::string& bpftrace, pid_t pid, bool stacks) {
    std::string program = fmt::format(
        "tracepoint:sched:sched_switch {{ if (pid == {}) {{ @start[tid] = nsecs; {}}}"
        " $since = @start[args->next_pid]; if ($since) {{ @ns[{}] = sum(nsecs - $since);"
        " delete(@start[args->next_pid]); }} }}",
        pid, stacks ? "@stack[tid] = ustack(perf, 127); " : "",
        stacks ? "@stack[args->next_pid]" : "args->next_pid");
    return {"/usr/bin/unshare",
            "--mount",
            "/bin/sh",
            "-c",
            "test -d /sys/kernel/tracing/events || mount -t tracefs none /sys/kernel/tracing; "
            "exec \"$0\" -e \"$1\"",
            bpftrace,
            program};
}

// A peer says nowhere that it is in place, but the switches tell.
void wait_until_attached(Child& peer, Called& called, double bare) {
    for (int tries = 0; tries < 1'500; tries++) {
        if (called.switch_threads(200, shallow) > bare * 1.15)
            return;
        if (!peer.running())
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw std::runtime_error("it did not attach");
}

struct Figures {
    Series bare, empty, stranger, target, target_deep, bare_deep;
};

} // namespace

void bench_off_cpu(const Features& features) {
    Tracker tracker(features);
    EmptyPrograms empty(features);
    Called called;
    Figures figures;
    auto measure = [&](int frames = shallow) { return called.switch_threads(switches, frames); };

    uint32_t epoch = 0;
    for (int round = 0; round < rounds; round++) {
        figures.bare.push_back(measure());
        figures.bare_deep.push_back(measure(deep));
        {
            auto links = empty.attach_to_switches();
            figures.empty.push_back(measure());
        }
        OffCpu off_cpu = take(OffCpu::make(tracker.programs()));
        off_cpu.start(rate_hz, ++epoch);
        figures.stranger.push_back(measure());
        tracker.observe(called.pid());
        figures.target.push_back(measure());
        figures.target_deep.push_back(measure(deep));
        tracker.forget(called.pid());
    }

    begin_table("A context switch", "ns of CPU time a switch, two threads over pipes on one CPU.",
                "watched", "not watched");
    print_row("empty programs", figures.empty, figures.bare, "ns");
    print_row("a thread outside the target", figures.stranger, figures.bare, "ns");
    print_row("a thread of the target, 10 frames", figures.target, figures.bare, "ns", 1.12);
    print_row("a thread of the target, 50 frames", figures.target_deep, figures.bare_deep, "ns");
    begin_table("A context switch beside empty programs", "", "watched", "empty programs");
    print_row("a thread outside the target", figures.stranger, figures.empty, "ns");
    print_row("a thread of the target, 10 frames", figures.target, figures.empty, "ns");

    begin_table("A context switch beside bpftrace", "The same sums: time off the CPU by stack.",
                "auger", "bpftrace");
    std::string bpftrace = find_program("bpftrace");
    for (bool stacks : {false, true}) {
        std::string what =
            stacks ? "with stacks, 10 frames" : "without stacks (auger takes them all the same)";
        if (bpftrace.empty()) {
            print_skipped(what, "it is not installed (package bpftrace)");
            continue;
        }
        Series ours, theirs;
        try {
            for (int round = 0; round < peer_rounds; round++) {
                double bare = measure();
                {
                    Child peer(bpftrace_command(bpftrace, called.pid(), stacks), Output::nowhere);
                    wait_until_attached(peer, called, bare);
                    for (int i = 0; i < 5; i++)
                        theirs.push_back(measure());
                    peer.interrupt();
                }
                OffCpu off_cpu = take(OffCpu::make(tracker.programs()));
                off_cpu.start(rate_hz, ++epoch);
                tracker.observe(called.pid());
                for (int i = 0; i < 5; i++)
                    ours.push_back(measure());
                tracker.forget(called.pid());
            }
            print_row(what, ours, theirs, "ns", stacks ? std::optional(1.0) : std::nullopt);
        } catch (const std::runtime_error& error) {
            print_skipped(what, error.what());
        }
    }
}

} // namespace auger::bench
