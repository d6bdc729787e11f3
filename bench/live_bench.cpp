// SPDX-License-Identifier: GPL-3.0-or-later
// The live flame at its worst: 100,000 distinct stacks in a tree of a million nodes, 1,000 new
// samples a refresh, drawn at 200x60. A refresh takes in the samples, lets old ones go, lays out
// and draws; the aim is 16 ms.
#include "views/model/flame_stream.h"
#include "views/model/timeline.h"
#include "views/screen/panes.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <random>

namespace auger {
namespace {

constexpr uint64_t us = 1'000, second = 1'000'000'000;
constexpr uint32_t stacks = 100'000, functions = 20'000, threads = 64;
constexpr size_t a_refresh = 1'000;    // samples
constexpr uint64_t between = 100 * us; // of two samples: a refresh is a tenth of a second
constexpr size_t filled = 1'000'000;   // samples before the first refresh

class Busy {
  public:
    Model model;

    Busy() {
        model.on_module(ModuleId{0}, {ModuleKind::file, "/usr/bin/service", ""});
        for (uint32_t i = 0; i < functions; i++) {
            model.on_location(LocationId{i}, {ModuleId{0}, i * 16, true});
            Frame frame{fmt::format("namespace_{}::function_{}", i % 97, i), "main.cc", i, false};
            model.on_frames(LocationId{i}, {&frame, 1});
        }
        for (uint32_t i = 0; i < threads; i++)
            model.on_thread(ThreadId{i}, {1, 1 + i, "service"});
        // A trunk of common frames, limbs that some share, and twigs of their own.
        std::vector<LocationId> stack;
        for (uint32_t i = 0; i < stacks; i++) {
            stack.clear();
            for (uint32_t depth = 0; depth < 10; depth++)
                stack.push_back(LocationId{depth * 100 + (i % (1u << depth)) % 100});
            for (uint32_t depth = 0; depth < 10; depth++)
                stack.push_back(LocationId{2'000 + static_cast<uint32_t>(random_() % 15'000)});
            std::reverse(stack.begin(), stack.end());
            model.on_stack(StackId{i}, stack);
        }
        model.on_spec(SpecId{0}, {ProbeId{1}, "function_0", "/usr/bin/service", 0, "ret"});
        model.on_probe({ProbeId{1}, "outer", {SpecId{0}}, {}, false});
        model.on_split({true, ProbeId{1}, {Threshold::Kind::fixed, 40 * between, 0}, false});
        feed(filled);
    }

    // Calls of random length, a few samples each; nine of ten samples lie in one.
    void feed(size_t samples) {
        for (size_t i = 0; i < samples; i++) {
            time_ += between;
            auto thread = static_cast<uint32_t>(random_() % threads);
            CallKey& call = calls_[thread];
            if (call.sequence && random_() % 4 == 0) {
                CallEndEvent end;
                end.time_ns = time_;
                end.duration_ns = random_() % (80 * between);
                end.thread = ThreadId{thread};
                end.call = call;
                model.on_call_end(end);
                call = {};
            }
            if (!call.sequence && random_() % 4)
                call = {time_ - 1, ++sequence_, SpecId{0}};
            SampleEvent sample;
            sample.time_ns = time_;
            sample.weight_ns = 1'000'000;
            sample.thread = ThreadId{thread};
            sample.stack = StackId{static_cast<uint32_t>(random_() % stacks)};
            if (call.sequence)
                sample.calls = {&call, 1};
            model.on_sample(sample);
        }
    }

  private:
    std::mt19937 random_{1};
    CallKey calls_[threads] = {};
    uint32_t sequence_ = 0;
    uint64_t time_ = second;
};

Busy& busy() {
    static const auto one = std::make_unique<Busy>();
    return *one;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

// Only `refresh` is timed, not the model's own taking in.
template <typename Refresh>
void time_refreshes(benchmark::State& state, Refresh refresh) {
    std::vector<double> times;
    for (auto _ : state) {
        busy().feed(a_refresh);
        auto start = std::chrono::steady_clock::now();
        refresh();
        times.push_back(milliseconds_since(start));
        state.SetIterationTime(times.back() / 1e3);
    }
    std::sort(times.begin(), times.end());
    state.counters["p95 ms"] = times[times.size() * 95 / 100];
}

Window window_of(const benchmark::State& state) {
    switch (state.range(0)) {
    case 1:
        return {Window::Kind::last, 100 * second};
    case 2:
        return {Window::Kind::ewma, 10 * second};
    default:
        return {};
    }
}

// What came since the last time goes into the tree, and what is too old out of it.
void flame_refresh(benchmark::State& state) {
    FlameStream stream;
    FlameQuery query{window_of(state), {}, GroupBy::process};
    while (stream.refresh(busy().model, query))
        ;
    time_refreshes(state, [&] {
        while (stream.refresh(busy().model, query))
            ;
    });
    state.counters["nodes"] = static_cast<double>(stream.tree().frames());
    state.counters["MB"] = static_cast<double>(stream.memory_bytes()) / 1e6;
}
BENCHMARK(flame_refresh)
    ->ArgName("all-last-ewma")
    ->DenseRange(0, 2)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(200);

// The same with layout and drawing: the pane as the screen uses it.
void flame_pane_refresh(benchmark::State& state) {
    std::unique_ptr<Pane> pane = pane_table()[0].make({});
    Scope scope{window_of(state), {}, GroupBy::process};
    while (pane->refresh(busy().model, scope))
        ;
    time_refreshes(state, [&] {
        while (pane->refresh(busy().model, scope))
            ;
        Canvas canvas(200);
        pane->draw(canvas, {0, 0, 200, 60}, true);
        benchmark::DoNotOptimize(canvas.height());
    });
}
BENCHMARK(flame_pane_refresh)
    ->ArgName("all-last-ewma")
    ->DenseRange(0, 2)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(200);

// After an edited threshold everything is folded anew, in slices; this is the longest of them, and
// how many there were.
void refold_slices(benchmark::State& state) {
    FlameStream stream;
    FlameQuery query{window_of(state), {}, GroupBy::process};
    while (stream.refresh(busy().model, query))
        ;
    double longest = 0;
    size_t slices = 0;
    for (auto _ : state) {
        query.filter = query.filter.all() ? ClassFilter(CallClass::slow) : ClassFilter();
        auto all = std::chrono::steady_clock::now();
        bool left = true;
        for (; left; slices++) {
            auto start = std::chrono::steady_clock::now();
            left = stream.refresh(busy().model, query);
            longest = std::max(longest, milliseconds_since(start));
        }
        state.SetIterationTime(milliseconds_since(all) / 1e3);
    }
    state.counters["longest ms"] = longest;
    state.counters["slices"] =
        static_cast<double>(slices) / static_cast<double>(state.iterations());
}
BENCHMARK(refold_slices)
    ->ArgName("all-last-ewma")
    ->Arg(0)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(4);

void timeline_refresh(benchmark::State& state) {
    Timeline timeline;
    TimelineQuery query;
    while (timeline.refresh(busy().model, query))
        ;
    time_refreshes(state, [&] {
        while (timeline.refresh(busy().model, query))
            ;
    });
    state.counters["MB"] = static_cast<double>(timeline.memory_bytes()) / 1e6;
}
BENCHMARK(timeline_refresh)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(200);

} // namespace
} // namespace auger
