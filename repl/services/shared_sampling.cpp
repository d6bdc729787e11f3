// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/shared_sampling.h"

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

Result<void> SharedSampling::apply(const SamplingSettings& user, const SamplingSettings& demand) {
    const SamplingSettings& wanted = samples(user) || !samples(demand) ? user : demand;
    if (wanted == in_force_)
        return {};
    auto set = backend_.set_sampling(wanted);
    if (set)
        in_force_ = wanted;
    return set;
}

} // namespace auger
