// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/shared_sampling.h"

#include <algorithm>
#include <utility>

namespace auger {

Result<void> SharedSampling::set_user(const SamplingSettings& settings) {
    auto applied = apply(settings, demand_);
    if (applied)
        user_ = settings;
    return applied;
}

Result<void> SharedSampling::set_demand(const SamplingSettings& demand) {
    auto applied = apply(user_, demand);
    if (applied)
        demand_ = demand;
    return applied;
}

Result<void> SharedSampling::limit_demand(const SamplingSettings& most) {
    const auto former = std::exchange(most_, most);
    auto applied = apply(user_, demand_);
    if (!applied)
        most_ = former;
    return applied;
}

SamplingSettings SharedSampling::limited(const SamplingSettings& demand) const {
    SamplingSettings limited = demand;
    if (!most_)
        return limited;
    limited.rate_hz = std::min(limited.rate_hz, most_->rate_hz);
    limited.wall = limited.wall && most_->wall;
    limited.waits_hz = limited.wall ? most_->waits_hz : 0;
    return limited;
}

Result<void> SharedSampling::apply(const SamplingSettings& user, const SamplingSettings& demand) {
    const SamplingSettings wanted = samples(user) || !samples(demand) ? user : limited(demand);
    if (wanted == in_force_)
        return {};
    auto set = backend_.set_sampling(wanted);
    if (set)
        in_force_ = wanted;
    return set;
}

} // namespace auger
