// SPDX-License-Identifier: GPL-3.0-or-later
// SimulatedService: the event stream of a busy service on one host, as a live backend tells it, in
// simulated time: each CPU works calls of one probe off, most of them short and a few long, and is
// sampled by a clock. Stacks are told when they are first seen; some are frequent, most are rare.
#pragma once

#include "loader/stream/events.h"

#include <cstdint>
#include <map>
#include <random>
#include <unordered_map>
#include <vector>

namespace auger::bench {

class SimulatedService {
  public:
    // What it has at most, and how deep its stacks are on average.
    static constexpr uint32_t most_stacks = 1u << 12, most_locations = 1800, mean_depth = 25;
    static constexpr uint32_t statistics_a_second = 10;

    // Nothing happens before `begin_ns`.
    SimulatedService(EventSink& sink, uint32_t seed, uint32_t cpus, uint64_t rate_hz,
                     uint64_t begin_ns);

    // What there is, and that this probe times the calls and splits by their p95.
    void define(ProbeId probe);
    // Lets everything up to then happen, and time pass.
    void run_until(uint64_t time_ns) {
        work_until(time_ns);
        sink_.on_time(time_ns);
    }
    void work_until(uint64_t time_ns);

    uint64_t samples() const { return samples_; } // told so far

  private:
    struct Cpu {
        ThreadId thread;
        bool in_call = false;
        CallKey call;
        uint32_t samples = 0;   // of the call
        uint64_t change_ns = 0; // when a call begins or ends
        uint64_t tick_ns = 0;
        uint64_t next_ns() const { return std::min(change_ns, tick_ns); }
    };
    void change(Cpu& cpu);
    void tick(Cpu& cpu, uint32_t number);
    void tell_statistics(uint64_t time_ns);
    void tell_ledger(uint64_t time_ns);
    StackId stack();
    LocationId location(uint32_t function, uint32_t site);
    uint64_t random_ns(double median_ns, double spread);

    EventSink& sink_;
    std::mt19937_64 random_;
    const uint64_t rate_hz_, tick_period_ns_;
    const uint64_t begin_ns_;
    std::vector<Cpu> cpus_;
    std::unordered_map<uint32_t, LocationId> locations_; // by function and site
    std::unordered_map<uint32_t, StackId> stacks_;       // by rank
    uint32_t calls_ = 0;
    uint64_t samples_ = 0;
    uint64_t statistics_ns_, ledger_ns_; // when they are told next
    StatsEvent since_;                   // they were told
    std::map<uint32_t, uint64_t> buckets_;
};

} // namespace auger::bench
