// SPDX-License-Identifier: GPL-3.0-or-later
// The same function timed by auger and by what else there is: bpftrace with its usual idiom, and
// libbpf-tools' funclatency. Each makes a histogram of durations; all run in turn in each round.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/probing.h"
#include "bench/report.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <stdexcept>

namespace auger::bench {

namespace {

constexpr int rounds = 5, batches = 5;
constexpr uint64_t calls = 3'000;

// Median of some batches: starting a peer takes longer than measuring it.
double cost(Called& called, const std::string& function) {
    Series series;
    called.call(function, calls / 10);
    for (int batch = 0; batch < batches; batch++)
        series.push_back(called.call(function, calls));
    return median(series);
}

struct Peer {
    std::string name;
    std::function<std::vector<std::string>(const std::string& function)> command;
    std::string missing; // why it is not measured; empty: it is
    std::map<std::string, Series> costs;
};

std::vector<Peer> find_peers(pid_t pid) {
    std::string path = Called::path();
    std::string bpftrace = find_program("bpftrace"), funclatency = find_program("funclatency");
    std::vector<Peer> peers;
    peers.push_back({"bpftrace",
                     [=](const std::string& function) -> std::vector<std::string> {
                         std::string place = path + ":" + function;
                         return {bpftrace, "-p", std::to_string(pid), "-e",
                                 "uprobe:" + place +
                                     " { @start[tid] = nsecs; } uretprobe:" + place +
                                     " /@start[tid]/ { @ns = hist(nsecs - @start[tid]); "
                                     "delete(@start[tid]); }"};
                     },
                     bpftrace.empty() ? "it is not installed (package bpftrace)" : "",
                     {}});
    peers.push_back({"funclatency of libbpf-tools",
                     [=](const std::string& function) -> std::vector<std::string> {
                         // The colon alone: the binary of that process.
                         return {funclatency, "-p", std::to_string(pid), ":" + function};
                     },
                     funclatency.empty() ? "it is not installed (package libbpf-tools)" : "",
                     {}});
    return peers;
}

} // namespace

void bench_peers(const Features& features) {
    const std::vector<std::string> functions = {"starts_push", "starts_endbr"};
    Tracker tracker(features);
    Called called;
    tracker.observe(called.pid());
    std::vector<Peer> peers = find_peers(called.pid());
    std::map<ExitWay, std::map<std::string, Series>> ours;
    std::vector<ExitWay> ways = {ExitWay::instructions};
    ways.push_back(features.uprobe_session ? ExitWay::session : ExitWay::return_probe);

    for (int round = 0; round < rounds; round++) {
        for (const std::string& function : functions) {
            double bare = called.call(function, calls);
            for (ExitWay way : ways) {
                std::vector<SpecId> specs;
                {
                    Attachment attachment = take(
                        Attachment::make(tracker.programs(),
                                         tracker.request(Functions::find(Called::path(), function),
                                                         way, AttachWay::multi, specs)));
                    ours[way][function].push_back(cost(called, function));
                }
                tracker.release(specs);
            }
            for (Peer& peer : peers) {
                if (!peer.missing.empty())
                    continue;
                Child child(peer.command(function), Output::nowhere);
                try {
                    wait_until_attached(child, called, function, bare);
                    peer.costs[function].push_back(cost(called, function));
                } catch (const std::runtime_error& error) {
                    peer.missing = error.what();
                }
                child.interrupt();
            }
        }
    }
    for (const Peer& peer : peers) {
        begin_table("A timed call beside " + peer.name,
                    "ns a call, histograms of the same function.", "auger", peer.name);
        if (!peer.missing.empty()) {
            print_skipped("all", peer.missing);
            continue;
        }
        for (const std::string& function : functions) {
            for (ExitWay way : ways) {
                bool cheap = way != ExitWay::instructions;
                // The aim is for the usual function and the cheap way out.
                print_row(function + (cheap ? ", trampoline" : ", exit instructions"),
                          ours[way][function], peer.costs.at(function), "ns",
                          cheap && peer.name == "bpftrace" ? std::optional(0.7) : std::nullopt);
            }
        }
    }
}

} // namespace auger::bench
