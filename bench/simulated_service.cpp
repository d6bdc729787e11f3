// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/simulated_service.h"

#include "loader/base/read_clock.h"
#include "loader/stats/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace auger::bench {

namespace {

// As periodic_work.cpp has them.
constexpr uint64_t statistics_interval_ns = second_ns / SimulatedService::statistics_a_second,
                   ledger_interval_ns = 500 * millisecond_ns;
constexpr double call_median_ns = 3e6, gap_median_ns = 4e5, call_spread = 1, gap_spread = 0.5;

// Of the program: stacks of up to 35 frames, whose outer ones are common.
constexpr uint32_t functions = 600, sites = 3, stack_bits = 12, trunk = 6, least_depth = 14,
                   more_depth = 22;
static_assert(SimulatedService::most_stacks == 1u << stack_bits &&
              SimulatedService::most_locations == functions * sites &&
              SimulatedService::mean_depth == least_depth + more_depth / 2);

uint32_t mixed(uint32_t a, uint32_t b) {
    uint64_t x = (uint64_t{a} << 32 | b) + 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return static_cast<uint32_t>(x >> 32);
}

// About as many, and as long, as a live backend tells.
std::map<std::string, uint64_t> causes() {
    std::map<std::string, uint64_t> lost;
    lost[lost_samples] = 0;
    for (int i = 0; i < 24; i++)
        lost[fmt::format("cause {} of losses: some table was full", i)] = 0;
    return lost;
}

} // namespace

SimulatedService::SimulatedService(EventSink& sink, uint32_t seed, uint32_t cpus, uint64_t rate_hz,
                                   uint64_t begin_ns)
    : sink_(sink), random_(seed), rate_hz_(rate_hz), tick_period_ns_(second_ns / rate_hz),
      begin_ns_(begin_ns), cpus_(cpus), statistics_ns_(begin_ns + statistics_interval_ns),
      ledger_ns_(begin_ns + ledger_interval_ns) {
    uint32_t number = 0;
    for (Cpu& cpu : cpus_) {
        cpu.thread = ThreadId{number++};
        cpu.change_ns = begin_ns + random_ns(gap_median_ns, gap_spread);
        cpu.tick_ns = begin_ns + random_() % tick_period_ns_;
    }
}

void SimulatedService::define(ProbeId probe) {
    const std::string path = "/usr/sbin/service";
    sink_.on_module(ModuleId{0},
                    {ModuleKind::file, path, "5f0c1d9a3b7e42868d11c0ffee5eed0123456789"});
    for (const Cpu& cpu : cpus_)
        sink_.on_thread(cpu.thread,
                        {4711, 4711 + cpu.thread.value, "service", "/system.slice/service"});
    sink_.on_spec(SpecId{0}, {probe, "server::Router::handle(server::Request const&)", path, 0x1230,
                              ObservedExit::parse("ret")});
    sink_.on_probe({probe, "handle", {SpecId{0}}, {}, false});
    sink_.on_split({true, probe, {Threshold::Kind::percentile, 0, 95}, false});
}

uint64_t SimulatedService::random_ns(double median_ns, double spread) {
    const double value = median_ns * std::exp(std::normal_distribution<double>(0, spread)(random_));
    return static_cast<uint64_t>(std::clamp(value, 1e3, 1e9));
}

void SimulatedService::work_until(uint64_t time_ns) {
    for (;;) {
        const auto cpu = std::ranges::min_element(cpus_, {}, &Cpu::next_ns);
        const uint64_t next = std::min({cpu->next_ns(), statistics_ns_, ledger_ns_});
        if (next > time_ns)
            break;
        if (next == statistics_ns_)
            tell_statistics(next);
        else if (next == ledger_ns_)
            tell_ledger(next);
        else if (next == cpu->change_ns)
            change(*cpu);
        else
            tick(*cpu, static_cast<uint32_t>(cpu - cpus_.begin()));
    }
}

void SimulatedService::change(Cpu& cpu) {
    const uint64_t now = cpu.change_ns;
    cpu.in_call = !cpu.in_call;
    if (cpu.in_call) {
        cpu.call = {now, calls_++ & ~CallKey::no_thread_bit, SpecId{0}};
        cpu.samples = 0;
        cpu.change_ns = now + random_ns(call_median_ns, call_spread);
        since_.entries++;
        since_.open++;
        return;
    }
    const uint64_t duration = now - cpu.call.start_ns;
    since_.returns++;
    since_.open--;
    since_.sum_ns += duration;
    since_.min_ns = since_.min_ns ? std::min(since_.min_ns, duration) : duration;
    since_.max_ns = std::max(since_.max_ns, duration);
    buckets_[bucket_of(duration)]++;
    if (cpu.samples) {
        CallEndEvent end;
        end.time_ns = now;
        end.duration_ns = duration;
        end.thread = cpu.thread;
        end.call = cpu.call;
        end.samples = cpu.samples;
        sink_.on_call_end(end);
    }
    cpu.change_ns = now + random_ns(gap_median_ns, gap_spread);
}

void SimulatedService::tick(Cpu& cpu, uint32_t number) {
    SampleEvent sample;
    sample.time_ns = cpu.tick_ns;
    sample.weight_ns = tick_period_ns_;
    sample.thread = cpu.thread;
    sample.stack = stack();
    sample.cpu = number;
    if (cpu.in_call)
        sample.calls = {&cpu.call, 1};
    sink_.on_sample(sample);
    cpu.samples++;
    cpu.tick_ns += tick_period_ns_;
    samples_++;
}

LocationId SimulatedService::location(uint32_t function, uint32_t site) {
    const uint32_t which = function * sites + site;
    const auto [known, is_new] =
        locations_.try_emplace(which, LocationId{static_cast<uint32_t>(locations_.size())});
    if (is_new) {
        sink_.on_location(known->second, {ModuleId{0}, 0x1000 + which * 64, true});
        const Frame frame{fmt::format("server::part_{}::Step{}::run(server::Request const&)",
                                      function % 23, function),
                          fmt::format("/src/server/part_{}.cc", function % 23), 10 + which % 400,
                          false};
        sink_.on_frames(known->second, {&frame, 1});
    }
    return known->second;
}

// The n-th most frequent is so n times less often than the first.
StackId SimulatedService::stack() {
    const double ranks = 1u << stack_bits;
    const auto rank = static_cast<uint32_t>(
        std::pow(ranks, std::uniform_real_distribution<double>(0, 1)(random_)) - 1);
    if (const auto known = stacks_.find(rank); known != stacks_.end())
        return known->second;
    std::vector<LocationId> stack;
    for (uint32_t depth = 0, end = least_depth + mixed(rank, 0) % more_depth; depth < end;
         depth++) {
        if (depth < trunk) {
            stack.push_back(location(depth, 0));
            continue;
        }
        // Two bits of the rank a frame: stacks of near ranks part late.
        const uint32_t bits = std::min(stack_bits, 2 * (depth - trunk + 1));
        const uint32_t path = mixed(rank >> (stack_bits - bits), depth);
        stack.push_back(location(trunk + path % (functions - trunk), path / functions % sites));
    }
    std::ranges::reverse(stack);
    const StackId id{static_cast<uint32_t>(stacks_.size())};
    stacks_.emplace(rank, id);
    sink_.on_stack(id, stack);
    return id;
}

void SimulatedService::tell_statistics(uint64_t time_ns) {
    since_.time_ns = time_ns;
    since_.spec = SpecId{0};
    since_.buckets.clear();
    for (const auto& [index, count] : buckets_)
        since_.buckets.push_back({index, count});
    sink_.on_stats(since_);
    buckets_.clear();
    StatsEvent next;
    next.min_ns = since_.min_ns;
    next.max_ns = since_.max_ns;
    since_ = std::move(next);
    statistics_ns_ += statistics_interval_ns;
}

void SimulatedService::tell_ledger(uint64_t time_ns) {
    LedgerEvent ledger;
    ledger.time_ns = time_ns;
    ledger.ticks = ledger.samples = samples_;
    ledger.on_cpu_ns = (time_ns - begin_ns_) * cpus_.size();
    ledger.rate_hz = rate_hz_;
    ledger.rate_achieved_hz = static_cast<double>(rate_hz_);
    ledger.sample_gap_ns = 9'000;
    ledger.overhead.begin_ns = time_ns - ledger_interval_ns;
    ledger.overhead.end_ns = time_ns;
    ledger.overhead.target_ns = ledger_interval_ns * cpus_.size();
    ledger.overhead.causes = {{Overhead::Cause::Kind::samples, {}, rate_hz_, 900'000}};
    static const auto lost = causes();
    ledger.lost = lost;
    sink_.on_ledger(ledger);
    ledger_ns_ += ledger_interval_ns;
}

} // namespace auger::bench
