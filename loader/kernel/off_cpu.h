// SPDX-License-Identifier: GPL-3.0-or-later
// OffCpu: the programs at context switches that sample waits, for as long as this lives.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/kernel/programs.h"

#include <array>
#include <cstdint>
#include <vector>

namespace auger {

class OffCpu {
  public:
    // No wait is sampled before start(). What the programs cost is measured, which takes some 30
    // ms, on a busy machine up to ten times that.
    static Result<OffCpu> make(Programs& programs);
    OffCpu(OffCpu&&) noexcept = default;
    OffCpu& operator=(OffCpu&&) = delete;
    ~OffCpu();

    // Waits are sampled `rate_hz` times a second; those that have begun before are not. `epoch` is
    // not 0, and another one each time.
    void start(uint32_t rate_hz, uint32_t epoch);
    // Takes effect at once; everything stays attached.
    void set_rate(uint32_t rate_hz);
    std::vector<uint64_t> link_ids() const;

  private:
    OffCpu(Programs& programs, std::array<UniqueFd, 2> links)
        : programs_(&programs), links_(std::move(links)) {}

    Programs* programs_;
    std::array<UniqueFd, 2> links_;
    std::array<uint32_t, 2> entry_ns_{}; // of a run of each program, beside what it measures
};

} // namespace auger
