// SPDX-License-Identifier: GPL-3.0-or-later
// SharedSampling: one sampler for the user and for clients of the endpoint. What the user says
// holds; while the user does not sample, it is sampled for those who asked, and for no longer.
#pragma once

#include "loader/backend.h"

#include <algorithm>
#include <optional>

namespace auger {

class SharedSampling {
  public:
    explicit SharedSampling(Backend& backend) : backend_(backend) {}

    // `sample`; whole or not at all.
    Result<void> set_user(const SamplingSettings& settings);
    // What others need, all together; rate 0: nothing.
    Result<void> set_demand(const SamplingSettings& demand);
    // No more than this from now on for them; see Brake.
    Result<void> limit_demand(const SamplingSettings& most);
    bool is_for_others() const { return !samples(user_) && samples(demand_); }
    // At which the user samples; 0: not at all.
    uint32_t user_rate_hz() const { return std::max(user_.rate_hz, user_.raised_hz); }
    const SamplingSettings& in_force() const { return in_force_; }

  private:
    static bool samples(const SamplingSettings& settings) {
        return settings.rate_hz != 0 || settings.raised_hz != 0;
    }
    Result<void> apply(const SamplingSettings& user, const SamplingSettings& demand);

    Backend& backend_;
    SamplingSettings limited(const SamplingSettings& demand) const;

    SamplingSettings user_, demand_, in_force_;
    std::optional<SamplingSettings> most_; // of `demand_`
};

} // namespace auger
