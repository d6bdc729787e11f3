// SPDX-License-Identifier: GPL-3.0-or-later
// The live flame at its worst: 100,000 distinct stacks in a tree of a million nodes, 1,000 new
// samples a refresh, drawn at 200x60. A refresh takes in the samples, lets old ones go, lays out
// and draws; the aim is 16 ms for each of them, of which the longest is told, too. All of it is
// CPU time.
#include "bench/busy_stream.h"
#include "views/model/flame_stream.h"
#include "views/model/timeline.h"
#include "views/screen/panes.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>

namespace auger {
namespace {

constexpr uint64_t second = 1'000'000'000;
constexpr size_t a_refresh = 1'000;  // samples: a tenth of a second
constexpr size_t filled = 1'000'000; // samples before the first refresh

struct Busy {
    Model model;
    bench::BusyStream stream{model};

    Busy() { feed(filled); }
    void feed(size_t samples) { stream.feed(samples); }
};

Busy& busy() {
    static const auto one = std::make_unique<Busy>();
    return *one;
}

// CPU time: what else runs on the machine is no part of it.
uint64_t used_ns() {
    timespec used = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}
double milliseconds_since(uint64_t start_ns) {
    return static_cast<double>(used_ns() - start_ns) / 1e6;
}

void report(std::vector<double>& times, benchmark::State& state) {
    std::sort(times.begin(), times.end());
    state.counters["median ms"] = times[times.size() / 2];
    state.counters["p99 ms"] = times[times.size() * 99 / 100];
    state.counters["max ms"] = times.back();
}

// Only `refresh` is timed, not the model's own taking in.
template <typename Refresh>
void time_refreshes(benchmark::State& state, Refresh refresh) {
    std::vector<double> times;
    for (auto _ : state) {
        busy().feed(a_refresh);
        auto start = used_ns();
        refresh();
        times.push_back(milliseconds_since(start));
        state.SetIterationTime(times.back() / 1e3);
    }
    report(times, state);
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
    pane->refresh(busy().model, scope, TimeSlice::endless());
    time_refreshes(state, [&] {
        pane->refresh(busy().model, scope, TimeSlice::endless());
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

// As the screen asks for it: in slices of 5 ms, which end with the step that they are over in. How
// long a slice takes, after another class or regular expression was asked for.
void pane_slices(benchmark::State& state) {
    std::unique_ptr<Pane> pane = pane_table()[0].make({});
    Scope scope;
    pane->refresh(busy().model, scope, TimeSlice::endless());
    const bool search = state.range(0) == 1;
    std::vector<double> times;
    for (auto _ : state) {
        auto all = used_ns();
        if (search)
            pane->search("function_1", busy().model);
        else
            scope.filter = scope.filter.all() ? ClassFilter(CallClass::slow) : ClassFilter();
        times.push_back(milliseconds_since(all));
        for (bool left = true; left;) {
            auto start = used_ns();
            left = pane->refresh(busy().model, scope,
                                 TimeSlice(used_ns, std::chrono::milliseconds(5)));
            times.push_back(milliseconds_since(start));
        }
        state.SetIterationTime(milliseconds_since(all) / 1e3);
    }
    report(times, state);
    state.counters["slices"] =
        static_cast<double>(times.size()) / static_cast<double>(state.iterations());
}
BENCHMARK(pane_slices)
    ->ArgName("class-search")
    ->DenseRange(0, 1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(8);

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
        auto all = used_ns();
        bool left = true;
        for (; left; slices++) {
            auto start = used_ns();
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
