// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_sampling.h"

#include "loader/kernel/calibration.h"
#include "loader/process/proc_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

namespace {

// Where waits have a rate of their own: see wire_config. A thread whose waits vary as those for
// random arrivals do (exponentially) has stacks for all but e^-3, a twentieth, of its samples.
constexpr uint32_t stacks_within = 3;

// With more, the CPUs' clocks are sampled: one of its own in each thread is taken off the CPU and
// put on it again with the thread, and ticks for the first time when that has run for a period,
// which threads that mostly sleep do once in a quarter of an hour.
constexpr size_t most_clocks = 256;

} // namespace

Result<LiveSampling::Prepared> LiveSampling::prepare(uint32_t rate_hz, bool everything,
                                                     const std::vector<pid_t>& pids) {
    if (!rate_hz)
        return Prepared();
    // Each time: it depends on the rate, and on what else the machine does.
    calibrate_ticks(programs_, features_.hardware_cycles, rate_hz);
    if (!everything)
        thread_clocks_.measure(features_.hardware_cycles);
    auto made = everything
                    ? Sampling::per_cpu(programs_, rate_hz, features_.hardware_cycles)
                    : Sampling::per_process(programs_, rate_hz, features_.hardware_cycles, pids);
    if (!made)
        return made.error();
    return Prepared(std::move(*made));
}

void LiveSampling::put_in_force(Prepared prepared) {
    if (sampling_) {
        sampling_->stop();
        on_cpu_before_ns_ += sampling_->running_ns();
    }
    ticks_before_ = programs_.sampler_counts().ticks;
    sampling_.reset();
    if (!prepared)
        return;
    // A sample of the hardware's counter has no period in time of its own.
    programs_.config().sample_weight_ns =
        features_.hardware_cycles ? 1'000'000'000 / prepared->rate_hz() : 0;
    sampling_.emplace(std::move(*prepared));
    sampling_->start();
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
    const uint32_t ticks_hz = raised ? settings.raised_hz : settings.rate_hz;
    const bool other_ticks = ticks_hz != (sampling_ ? sampling_->rate_hz() : 0);
    const bool waits = settings.wall && ticks_hz;

    // Whatever may fail comes before anything is changed.
    Prepared prepared;
    const bool cpus = cpus_ || (other_ticks && has_many_threads(pids_));
    if (other_ticks) {
        auto made = prepare(ticks_hz, everything_ || cpus, pids_);
        if (!made)
            return made.error();
        prepared = std::move(*made);
    }
    std::optional<OffCpu> off_cpu;
    if (waits && !off_cpu_) {
        auto made = OffCpu::make(programs_);
        if (!made)
            return made.error();
        off_cpu.emplace(std::move(*made));
    }
    if (auto set = gates_.set(WIRE_GATE_RAISED, raised ? settings.raised : Gate{}); !set)
        return set;

    // The last samples before sampling ends are as those before them.
    if (ticks_hz)
        set_contents(settings, ticks_hz);
    const uint32_t waits_hz = settings.waits_hz ? settings.waits_hz : ticks_hz;
    if (off_cpu) {
        off_cpu_.emplace(std::move(*off_cpu));
        off_cpu_->start(waits_hz, ++wall_epoch_);
    } else if (waits) {
        off_cpu_->set_rate(waits_hz);
    } else {
        off_cpu_.reset();
    }
    if (other_ticks)
        put_in_force(std::move(prepared));
    if (!ticks_hz)
        set_contents(settings, ticks_hz);
    cpus_ = cpus;
    settings_ = settings;
    return {};
}

uint32_t LiveSampling::waits_hz() const {
    return settings_.waits_hz ? settings_.waits_hz
                              : std::max(settings_.rate_hz, settings_.raised_hz);
}

// What a sample holds, and which ticks are samples.
void LiveSampling::set_contents(const SamplingSettings& settings, uint32_t ticks_hz) {
    volatile wire_config& config = programs_.config();
    config.with_wakers = settings.wakers;
    config.with_tasks = settings.tasks;
    set_go_label(settings.go_label);
    config.base_every = settings.rate_hz ? (ticks_hz + settings.rate_hz / 2) / settings.rate_hz : 0;
    config.wait_stacks_within = settings.waits_hz ? stacks_within : 0;
}

static_assert(most_go_label_key == WIRE_GO_LABEL_KEY);

// In the place that is not in force, where walks that began before the last edit may still look.
void LiveSampling::set_go_label(const std::string& key) {
    volatile wire_config& config = programs_.config();
    if (key == settings_.go_label)
        return;
    const uint32_t next = config.go_label == 1 ? 2 : 1;
    volatile wire_go_label_key& entry = config.go_label_key[next - 1];
    const size_t size = std::min<size_t>(key.size(), WIRE_GO_LABEL_KEY);
    for (size_t i = 0; i < WIRE_GO_LABEL_KEY; i++)
        entry.text[i] = i < size ? key[i] : '\0';
    entry.size = static_cast<uint32_t>(size);
    config.go_label = size ? next : 0;
}

bool LiveSampling::has_many_threads(const std::vector<pid_t>& pids) {
    size_t sum = 0;
    for (const pid_t pid : pids)
        if (const auto threads = threads_of(pid))
            sum += threads->size();
    return sum > most_clocks;
}

Result<LiveSampling::Prepared> LiveSampling::prepare_target(bool everything,
                                                            const std::vector<pid_t>& pids) {
    next_cpus_ = has_many_threads(pids);
    return prepare(sampling_ ? sampling_->rate_hz() : 0, everything || next_cpus_, pids);
}

void LiveSampling::set_target(bool everything, std::vector<pid_t> pids, Prepared prepared) {
    everything_ = everything;
    cpus_ = next_cpus_;
    pids_ = std::move(pids);
    if (prepared)
        put_in_force(std::move(prepared));
}

Result<void> LiveSampling::sample_cpus() {
    if (samples_cpus())
        return {};
    auto prepared = prepare(sampling_ ? sampling_->rate_hz() : 0, true, {});
    if (!prepared)
        return prepared.error();
    cpus_ = true;
    if (*prepared)
        put_in_force(*std::move(prepared));
    return {};
}

Result<void> LiveSampling::add_process(pid_t pid, bool inherits) {
    pids_.push_back(pid);
    if (!sampling_ || inherits || samples_cpus())
        return {};
    return sampling_->add_process(pid);
}

ThreadClocks::Cost LiveSampling::take_clock_cost() {
    if (sampling_ && !samples_cpus())
        return thread_clocks_.take(pids_, sampling_->rate_hz());
    thread_clocks_.stop();
    return {};
}

void LiveSampling::report(LedgerEvent& ledger) const {
    const SamplerCounts sampler = programs_.sampler_counts();
    ledger.ticks = sampler.ticks;
    ledger.samples = sampler.samples;
    ledger.filtered = sampler.filtered;
    ledger.gated = sampler.gated;
    ledger.lost[lost_samples] = sampler.lost;
    // Until there is one: that of a sample of our own.
    const uint64_t hits = sampler.ticks - sampler.filtered;
    ledger.sample_gap_ns = hits ? sampler.own_ns / hits : calibrated_tick_ns(programs_);
    const wire_wait_stats waits = programs_.wait_stats();
    ledger.waits = waits.waits;
    ledger.wait_samples = waits.samples;
    ledger.gated_waits = waits.gated;
    ledger.wall = off_cpu_.has_value();
    ledger.waits_hz = off_cpu_ ? settings_.waits_hz : 0;
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
