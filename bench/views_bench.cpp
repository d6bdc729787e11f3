// SPDX-License-Identifier: GPL-3.0-or-later
// The model's throughput: events in, and queries over ten million samples; bytes a sample, measured
// as resident memory.
#include "bpf/wire.h"
#include "views/model/diff.h"
#include "views/model/fold.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <random>
#include <unistd.h>

namespace auger {
namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint32_t locations = 20'000, stacks = 50'000, threads = 64;

size_t resident_bytes() {
    size_t total = 0, resident = 0;
    if (FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%zu %zu", &total, &resident) != 2)
            resident = 0;
        std::fclose(file);
    }
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

void define(Model& model) {
    std::mt19937 random(1);
    model.on_module(ModuleId{0}, {ModuleKind::file, "/usr/bin/service", ""});
    for (uint32_t i = 0; i < locations; i++) {
        model.on_location(LocationId{i}, {ModuleId{0}, i * 16, true});
        Frame frame{fmt::format("function_{}", i / 5), "main.cc", i, false};
        model.on_frames(LocationId{i}, {&frame, 1});
    }
    std::vector<LocationId> stack;
    for (uint32_t i = 0; i < stacks; i++) {
        stack.clear();
        for (uint32_t depth = 0, n = 10 + random() % 30; depth < n;
             depth++) // few roots, many leaves
            stack.insert(stack.begin(), LocationId{static_cast<uint32_t>(random()) %
                                                   std::min(locations, 2u << (depth / 2))});
        model.on_stack(StackId{i}, stack);
    }
    for (uint32_t i = 0; i < threads; i++)
        model.on_thread(ThreadId{i}, {1, 100 + i, "service"});
    model.on_spec(SpecId{0},
                  {ProbeId{1}, "function_0", "/usr/bin/service", 0, ObservedExit::parse("ret")});
    model.on_spec(SpecId{1},
                  {ProbeId{2}, "function_1", "/usr/bin/service", 0, ObservedExit::parse("ret")});
    model.on_probe({ProbeId{1}, "outer", {SpecId{0}}, {}, false});
    model.on_probe({ProbeId{2}, "inner", {SpecId{1}}, {}, false});
    model.on_split({true, ProbeId{1}, {Threshold::Kind::fixed, 20 * ms, 0}, false});
}

// Four samples an outer call, two an inner one; every call ends. Returns the number of events.
uint64_t feed(Model& model, uint64_t samples) {
    std::mt19937 random(2);
    uint64_t events = 0;
    CallEndEvent end;
    for (uint64_t i = 0; i < samples; i += 4) {
        ThreadId thread{static_cast<uint32_t>(i / 4 % threads)};
        CallKey calls[2] = {{i * ms, uint32_t(i), SpecId{0}}, {}};
        for (uint32_t inner = 0; inner < 2; inner++) {
            calls[1] = {i * ms + inner * 2 * ms, uint32_t(i + inner + 1), SpecId{1}};
            for (uint32_t n = 0; n < 2; n++) {
                SampleEvent sample;
                sample.time_ns = (i + inner * 2 + n) * ms + 1;
                sample.weight_ns = ms;
                sample.thread = thread;
                sample.stack = StackId{static_cast<uint32_t>(random() % stacks)};
                sample.calls = calls;
                model.on_sample(sample);
            }
            end = {i * ms + inner * 2 * ms + 2 * ms, 2 * ms, thread, calls[1], 2, false};
            model.on_call_end(end);
        }
        end = {(i + 4) * ms, random() % (22 * ms), thread, calls[0], 4, false};
        model.on_call_end(end);
        events += 7;
    }
    return events;
}

// One model for all queries: filling it takes longer than any of them.
struct Filled {
    static constexpr size_t samples = 10'000'000;
    Model model{samples};
    double resident_per_sample = 0;

    Filled() {
        define(model);
        size_t before = resident_bytes();
        feed(model, samples);
        resident_per_sample = static_cast<double>(resident_bytes() - before) / samples;
        StatsEvent stats;
        stats.time_ns = samples * ms;
        stats.entries = stats.returns = samples / 4;
        stats.min_ns = 1;
        stats.max_ns = 22 * ms;
        stats.buckets = {{wire_histogram_bucket(10 * ms), samples / 4 / 22 * 20},
                         {wire_histogram_bucket(21 * ms), samples / 4 / 22 * 2}};
        model.on_stats(stats);
    }
    static const Filled& get() {
        static const auto filled = std::make_unique<Filled>();
        return *filled;
    }
};

void ingest(benchmark::State& state) {
    uint64_t events = 0;
    for (auto _ : state) {
        state.PauseTiming();
        auto model = std::make_unique<Model>(1'000'000);
        define(*model);
        state.ResumeTiming();
        events += feed(*model, 2'000'000); // the second half evicts
        state.PauseTiming();
        model.reset();
        state.ResumeTiming();
    }
    state.counters["events/s"] =
        benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}
BENCHMARK(ingest)->Unit(benchmark::kMillisecond);

void fold_10m(benchmark::State& state) {
    const Filled& filled = Filled::get();
    for (auto _ : state)
        benchmark::DoNotOptimize(fold(filled.model, {}).nodes.size());
    state.counters["bytes/sample"] = filled.resident_per_sample;
    state.counters["stated bytes/sample"] =
        static_cast<double>(filled.model.memory_bytes()) / Filled::samples;
}
BENCHMARK(fold_10m)->Unit(benchmark::kMillisecond);

void fold_10m_ewma(benchmark::State& state) {
    const Filled& filled = Filled::get();
    Window window{Window::Kind::ewma, filled.model.now_ns() / 10};
    for (auto _ : state)
        benchmark::DoNotOptimize(fold(filled.model, window).nodes.size());
}
BENCHMARK(fold_10m_ewma)->Unit(benchmark::kMillisecond);

void top_10m(benchmark::State& state) {
    const Filled& filled = Filled::get();
    for (auto _ : state)
        benchmark::DoNotOptimize(sum_functions(filled.model, {}).size());
}
BENCHMARK(top_10m)->Unit(benchmark::kMillisecond);

void diff_10m(benchmark::State& state) {
    const Filled& filled = Filled::get();
    for (auto _ : state)
        benchmark::DoNotOptimize(
            diff_classes(filled.model, {}, CallClass::slow, CallClass::fast).ok());
}
BENCHMARK(diff_10m)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace auger

BENCHMARK_MAIN();
