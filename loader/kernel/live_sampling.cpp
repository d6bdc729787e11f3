// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_sampling.h"

#include "loader/kernel/calibration.h"

#include <fmt/format.h>

#include <utility>

namespace auger {

Result<void> LiveSampling::restart(uint32_t rate_hz) {
    std::optional<Sampling> fresh;
    if (rate_hz) {
        if (!programs_.config().sample_gap_ns)
            programs_.config().sample_gap_ns =
                measure_sample_gap(programs_, features_.hardware_cycles);
        // A sample of the hardware's counter has no period in time of its own.
        programs_.config().sample_weight_ns =
            features_.hardware_cycles ? 1'000'000'000 / rate_hz : 0;
        if (sampling_)
            sampling_->stop();
        auto made = everything_ ? Sampling::per_cpu(programs_, rate_hz, features_.hardware_cycles)
                                : Sampling::per_process(programs_, rate_hz,
                                                        features_.hardware_cycles, pids_);
        if (!made) {
            // What was in force before goes on.
            if (sampling_)
                (void)restart(std::exchange(sampling_, std::nullopt)->rate_hz());
            return made.error();
        }
        fresh.emplace(std::move(*made));
    } else if (sampling_) {
        sampling_->stop();
    }
    if (sampling_)
        on_cpu_before_ns_ += sampling_->running_ns();
    ticks_before_ = programs_.sampler_stats().ticks;
    sampling_ = std::move(fresh);
    return {};
}

Result<void> LiveSampling::set_off_cpu(const SamplingSettings& settings) {
    if (!settings.wall || !settings.rate_hz) {
        off_cpu_.reset();
        return {};
    }
    if (off_cpu_) {
        off_cpu_->set_rate(settings.rate_hz);
        return {};
    }
    auto made = OffCpu::make(programs_, settings.rate_hz, ++wall_epoch_);
    if (!made)
        return made.error();
    off_cpu_.emplace(std::move(*made));
    return {};
}

// The clock ticks at the highest rate asked for. Outside of the gate of a raised rate only every
// so manieth tick becomes a sample.
Result<void> LiveSampling::set(const SamplingSettings& settings) {
    for (uint32_t rate : {settings.rate_hz, settings.raised_hz}) {
        if (rate > Sampling::max_rate_hz)
            return Error{"sample", std::to_string(rate), "too high",
                         fmt::format("1 to {} samples a second", Sampling::max_rate_hz)};
    }
    const bool raised = settings.raised_hz > settings.rate_hz;
    if (settings.raised_hz && !raised)
        return Error{"sample", fmt::format("{} only", settings.raised_hz),
                     fmt::format("no higher than the rate outside of it, {}", settings.rate_hz),
                     "lower that first: `sample RATE`, or `sample off`"};
    SamplingSettings ticks{raised ? settings.raised_hz : settings.rate_hz, settings.wall};
    programs_.config().with_wakers = settings.wall && settings.wakers;
    if (auto set = gates_.set(WIRE_GATE_RAISED, raised ? settings.raised : Gate{}); !set)
        return set;
    const uint32_t base_before = programs_.config().base_every;
    programs_.config().base_every =
        settings.rate_hz ? (ticks.rate_hz + settings.rate_hz / 2) / settings.rate_hz : 0;
    if (auto set = set_ticks(ticks); !set) {
        programs_.config().base_every = base_before;
        (void)gates_.set(WIRE_GATE_RAISED, settings_.raised);
        return set;
    }
    settings_ = settings;
    return {};
}

Result<void> LiveSampling::set_ticks(const SamplingSettings& settings) {
    SamplingSettings before{sampling_ ? sampling_->rate_hz() : 0, off_cpu_.has_value()};
    if (auto set = set_off_cpu(settings); !set)
        return set;
    if (settings.rate_hz == before.rate_hz && sampling_)
        return {};
    auto restarted = restart(settings.rate_hz);
    if (!restarted)
        (void)set_off_cpu(before);
    return restarted;
}

Result<void> LiveSampling::set_target(bool everything, std::vector<pid_t> pids) {
    everything_ = everything;
    pids_ = std::move(pids);
    return sampling_ ? restart(sampling_->rate_hz()) : Result<void>();
}

Result<void> LiveSampling::add_process(pid_t pid, bool inherits) {
    pids_.push_back(pid);
    if (!sampling_ || inherits || everything_)
        return {};
    return sampling_->add_process(pid);
}

void LiveSampling::report(LedgerEvent& ledger) const {
    const wire_sampler_stats sampler = programs_.sampler_stats();
    ledger.ticks = sampler.ticks;
    ledger.samples = sampler.samples;
    ledger.filtered = sampler.filtered;
    ledger.gated = sampler.gated;
    ledger.sample_gap_ns = programs_.config().sample_gap_ns;
    const wire_wait_stats waits = programs_.wait_stats();
    ledger.waits = waits.waits;
    ledger.wait_samples = waits.samples;
    ledger.gated_waits = waits.gated;
    ledger.wall = off_cpu_.has_value();
    const uint64_t running_ns = sampling_ ? sampling_->running_ns() : 0;
    ledger.on_cpu_ns = on_cpu_before_ns_ + running_ns;
    ledger.rate_hz = sampling_ ? sampling_->rate_hz() : 0;
    if (running_ns)
        ledger.rate_achieved_hz = static_cast<double>(sampler.ticks - ticks_before_) * 1e9 /
                                  static_cast<double>(running_ns);
}

void LiveSampling::add_link_ids(std::vector<uint64_t>& ids) const {
    if (!off_cpu_)
        return;
    const auto waits = off_cpu_->link_ids();
    ids.insert(ids.end(), waits.begin(), waits.end());
}

} // namespace auger
