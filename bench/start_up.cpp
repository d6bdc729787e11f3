// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/start_up.h"

#include "bench/programs.h"
#include "bench/stack_shares.h"

#include "loader/kernel/live_backend.h"

#include <fmt/format.h>

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>

namespace auger::bench {
namespace {

using std::chrono::steady_clock;

constexpr double aim_s = 2;
constexpr double observed_s = 5;
constexpr double enough = 0.95; // of the samples, of the names
constexpr uint64_t fewest_samples = 20;
constexpr uint32_t rate_hz = 499;
constexpr int rounds = 3;
constexpr uint64_t window_ns = 300'000'000; // what a flame is made of

// Seconds from the start.
struct Milestones {
    double loaded = 0;   // the kernel programs are in place
    double sampling = 0; // the target is known, sampling has begun
    std::optional<double> tables, whole, named;
    double cpu = 0; // seconds of auger's own, until then
};

double cpu_seconds() {
    rusage used = {};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double share(uint64_t part, uint64_t all) {
    return all ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

Milestones start(pid_t pid) {
    const auto begin = steady_clock::now();
    const double cpu_before = cpu_seconds();
    const auto seconds = [&] {
        return std::chrono::duration<double>(steady_clock::now() - begin).count();
    };
    const auto must = [](const auto& result) {
        if (!result)
            throw std::runtime_error(result.error().message());
    };
    Milestones reached;
    Model model;
    auto backend = make_live_backend({}, model);
    must(backend);
    reached.loaded = seconds();
    TargetSpec target;
    target.kind = TargetSpec::Kind::pids;
    target.pids = {pid};
    must((*backend)->set_target(target));
    must((*backend)->set_sampling({rate_hz, false}));
    reached.sampling = seconds();
    struct Moment {
        double time, named, cpu; // named: share of the frames
    };
    std::vector<Moment> moments;
    while (seconds() < observed_s) {
        must((*backend)->poll(std::chrono::milliseconds(20), -1));
        if (!reached.tables && (*backend)->unwind_status().pending.empty())
            reached.tables = seconds();
        const StackShares flame =
            stack_shares(model, "libraries", (*backend)->now_ns() - window_ns);
        if (flame.samples < fewest_samples)
            continue;
        if (!reached.whole && share(flame.whole, flame.samples) >= enough)
            reached.whole = seconds();
        moments.push_back(
            {seconds(), share(flame.named, flame.frames), cpu_seconds() - cpu_before});
    }
    must((*backend)->set_sampling({}));
    (*backend)->settle_symbols(std::chrono::seconds(30));
    const StackShares all = stack_shares(model, "libraries");
    for (const Moment& moment : moments) {
        if (reached.named || !reached.whole || moment.time < *reached.whole ||
            moment.named < enough * share(all.named, all.frames))
            continue;
        reached.named = moment.time;
        reached.cpu = moment.cpu;
    }
    return reached;
}

void print(const char* cache, const std::vector<Milestones>& all) {
    const auto median_of = [&](auto value) {
        Series series;
        for (const Milestones& one : all)
            series.push_back(value(one));
        return median(series);
    };
    const auto or_never = [](const std::optional<double>& time) {
        return time.value_or(observed_s);
    };
    const double named = median_of([&](const Milestones& one) { return or_never(one.named); });
    fmt::print(
        "| {} | {:.2f} s | {:.2f} s | {:.2f} s | {:.2f} s | {:.2f} s ({:.0f} {}) | {:.2f} s |\n",
        cache, median_of([](const Milestones& one) { return one.loaded; }),
        median_of([](const Milestones& one) { return one.sampling; }),
        median_of([&](const Milestones& one) { return or_never(one.tables); }),
        median_of([&](const Milestones& one) { return or_never(one.whole); }), named, aim_s,
        verdict(named <= aim_s), median_of([](const Milestones& one) { return one.cpu; }));
    std::fflush(stdout);
}

} // namespace

void bench_start_up() {
    fmt::print("\n### From the start to the first flame\n");
    try {
        Child libraries({AUGER_BENCH_LIBRARIES}, Output::pipe);
        int threads = 0;
        unsigned long bytes = 0;
        const std::string line = libraries.read_line();
        if (std::sscanf(line.c_str(), "%d %lu", &threads, &bytes) != 2 || threads == 0)
            throw std::runtime_error("apt-get install libclang1-14 libllvm14 libpython3.11");
        fmt::print("Of a process that maps {:.0f} MB of libraries and runs in {} of them, medians "
                   "of {} rounds; times since the start. A flame is of the last {} ms: whole when "
                   "{:.0f} % of its stacks are, named when it has {:.0f} % of the names, too, that "
                   "there are in the files.\n\n"
                   "| tables of unwinding | programs loaded | sampling | all tables there | flame "
                   "whole | flame whole and named | CPU of auger until then |\n"
                   "|---|--:|--:|--:|--:|---|--:|\n",
                   static_cast<double>(bytes) / 1e6, threads, rounds, window_ns / 1'000'000,
                   100 * enough, 100 * enough);
        std::vector<Milestones> cold, warm;
        for (int round = 0; round < rounds; round++) {
            const ScratchFolder cache;
            setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
            cold.push_back(start(libraries.pid()));
            warm.push_back(start(libraries.pid()));
        }
        print("made", cold);
        print("in the cache", warm);
    } catch (const std::exception& error) {
        fmt::print("not measured: {}\n", error.what());
    }
}

} // namespace auger::bench
