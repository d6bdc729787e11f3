// SPDX-License-Identifier: GPL-3.0-or-later
// LiveExplained: which calls the kernel tells with their parts, and how many of them: as many as
// are enough, of the long ones all.
#pragma once

#include "loader/kernel/live_probes.h"
#include "loader/kernel/programs.h"
#include "loader/settings/explain_request.h"

#include <cstdint>
#include <map>

namespace auger {

// How many of a function's calls are told.
struct ToldCalls {
    uint32_t every = 1;            // of those up to slow_ns, chosen at random
    uint64_t slow_ns = UINT64_MAX; // of longer ones each
    friend bool operator==(const ToldCalls&, const ToldCalls&) = default;
};
// So that about `wanted` are told, half of them the longest, when durations are as in `buckets`
// (returned calls by bucket_of()).
ToldCalls told_calls(const std::map<uint32_t, uint64_t>& buckets, uint64_t wanted);

class LiveExplained {
  public:
    LiveExplained(Programs& programs, LiveProbes& probes, EventSink& sink)
        : programs_(programs), probes_(probes), sink_(sink) {}

    // Fails without a change.
    Result<void> set(const ExplainRequest& wanted, uint64_t now_ns);
    // New statistics of one of the probe's specs.
    void on_stats(ProbeId probe, const StatsEvent& event);
    // What is timed may have changed, and how often the calls come.
    void update(uint64_t now_ns);

  private:
    Result<void> number(const ExplainRequest& wanted, uint64_t now_ns);

    Programs& programs_;
    LiveProbes& probes_;
    EventSink& sink_;
    ExplainRequest wanted_;
    uint32_t set_ = 0;
    size_t told_left_out_ = 0;
    std::map<uint32_t, uint64_t> buckets_; // of the probe's calls since `since_ns_`
    uint64_t since_ns_ = 0;
};

} // namespace auger
