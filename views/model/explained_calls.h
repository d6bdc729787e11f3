// SPDX-License-Identifier: GPL-3.0-or-later
// The calls that were told with their parts, the latest of them.
#pragma once

#include "loader/stream/events.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace auger {

struct ExplainedCall {
    uint64_t time_ns = 0; // when it ended
    uint64_t duration_ns = 0;
    SpecId spec;
    MachineId machine{};
    uint32_t set = 0;
    uint32_t stands_for = 1;
    bool incomplete = false;
    std::optional<CallWaits> waits{};
    uint64_t parked_ns = 0;
    uint64_t queued_ns = 0;
    std::vector<CallPart> parts{};
};

class ExplainedCalls {
  public:
    static constexpr size_t capacity = 50'000; // the oldest go

    void add(const CallPartsEvent&, ProbeId, MachineId);
    const std::deque<ExplainedCall>& calls() const { return calls_; }
    // Whether the parts are those that the probe's calls have now.
    bool has_latest_parts(const ExplainedCall& call, ProbeId probe) const;
    size_t memory_bytes() const { return bytes_; }

  private:
    std::deque<ExplainedCall> calls_;
    std::map<std::pair<ProbeId, MachineId>, uint32_t> sets_; // latest
    size_t bytes_ = 0;
};

} // namespace auger
