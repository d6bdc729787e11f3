// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/brake.h"

#include <algorithm>
#include <optional>

namespace auger {
namespace {

using Cause = Overhead::Cause;

// Of a CPU: what takes less harms nobody, whatever share of a target it is that does next to
// nothing.
constexpr double least_load = 0.01;
// A cause that has been below the warning for so long is warned of again.
constexpr uint64_t forget_ns = 10'000'000'000;
// Lost samples, of all: a burst when something begins is no reason.
constexpr double most_lost = 0.01;

uint32_t halved(uint32_t rate_hz) {
    return std::max(rate_hz / 2, 1u);
}

uint32_t rate_of(const SamplingSettings& sampling) {
    return std::max(sampling.rate_hz, sampling.raised_hz);
}

uint32_t waits_rate_of(const SamplingSettings& sampling) {
    return sampling.waits_hz ? sampling.waits_hz : rate_of(sampling);
}

// A lower rate changes nothing as long as there are samples of every wait, so that is passed at
// once; then it is halved, and what that has brought is seen in the next span.
uint32_t lower_waits_rate(const Overhead& span, uint32_t rate_hz) {
    const double waited_s = static_cast<double>(span.waited_ns) / 1e9;
    do {
        rate_hz = halved(rate_hz);
    } while (rate_hz > 1 && rate_hz * waited_s > static_cast<double>(span.waits));
    return rate_hz;
}

BrakeAction slow_down_waits(const Overhead& span, const Cause& cause,
                            const SamplingSettings& sampling) {
    const uint32_t rate_hz = waits_rate_of(sampling);
    const double percent = overhead_percent(span, cause.cost_ns);
    if (rate_hz <= 1)
        return {BrakeAction::Kind::end_waits, cause, percent};
    return {BrakeAction::Kind::lower_waits, cause, percent, lower_waits_rate(span, rate_hz)};
}

// Nothing when it cannot be made cheaper. `excess_ns` has to go.
std::optional<BrakeAction> reduce_cause(const Overhead& span, const Cause& cause, double excess_ns,
                                        const SamplingSettings& sampling) {
    const double percent = overhead_percent(span, cause.cost_ns);
    switch (cause.kind) {
    case Cause::Kind::probe:
        return BrakeAction{BrakeAction::Kind::take_off, cause, percent};
    case Cause::Kind::lines:
        return BrakeAction{BrakeAction::Kind::end_lines, cause, percent};
    case Cause::Kind::waits:
        if (!sampling.wall)
            return {};
        return slow_down_waits(span, cause, sampling);
    case Cause::Kind::clocks:
        return {}; // they cost what they do at any rate; the CPUs' are sampled soon, where they can
    case Cause::Kind::samples:
        break;
    }
    const uint32_t rate_hz = rate_of(sampling);
    if (rate_hz <= 1)
        return {};
    // Its cost is in proportion to its rate.
    uint32_t lower = rate_hz;
    do {
        lower = halved(lower);
    } while (lower > 1 &&
             static_cast<double>(cause.cost_ns) * (1 - static_cast<double>(lower) / rate_hz) <
                 excess_ns);
    return BrakeAction{BrakeAction::Kind::lower_rate, cause, percent, lower};
}

double saved_ns(const BrakeAction& action, const SamplingSettings& sampling) {
    const auto cost_ns = static_cast<double>(action.cause.cost_ns);
    // What a lower rate of waits has brought is to be seen.
    return action.kind == BrakeAction::Kind::lower_rate
               ? cost_ns * (1 - static_cast<double>(action.rate_hz) / rate_of(sampling))
               : cost_ns;
}

} // namespace

double overhead_percent(const Overhead& span, uint64_t cost_ns) {
    if (!span.target_ns)
        return 0;
    return std::min(100 * static_cast<double>(cost_ns) / static_cast<double>(span.target_ns),
                    100.0);
}

void Brake::reduce(std::vector<BrakeAction>& actions, const Overhead& span, double limit_ns,
                   const SamplingSettings& sampling) {
    double total = 0;
    for (const Cause& cause : span.causes)
        total += static_cast<double>(cause.cost_ns);
    spans_beyond_ = total > limit_ns ? spans_beyond_ + 1 : 0;
    if (spans_beyond_ < patience_)
        return;
    spans_beyond_ = 0;
    std::vector<Cause> dearest = span.causes;
    std::ranges::stable_sort(dearest, std::greater(), &Cause::cost_ns);
    for (const Cause& cause : dearest) {
        if (total <= limit_ns)
            return;
        const auto action = reduce_cause(span, cause, total - limit_ns, sampling);
        if (!action)
            continue;
        actions.push_back(*action);
        total -= saved_ns(*action, sampling);
    }
}

void Brake::warn(std::vector<BrakeAction>& actions, const Overhead& span,
                 const OverheadLimit& limit) {
    for (const Cause& cause : span.causes) {
        const double percent = overhead_percent(span, cause.cost_ns);
        // Of clocks is told when others are chosen, from less on.
        if (percent < limit.warn_percent() || cause.kind == Cause::Kind::clocks)
            continue;
        const CauseKey key{cause.kind, cause.probe};
        const bool acted_on = std::ranges::any_of(actions, [&](const BrakeAction& action) {
            return action.cause.kind == cause.kind && action.cause.probe == cause.probe;
        });
        if (warned_.emplace(key, span.end_ns).second && !acted_on)
            actions.push_back({BrakeAction::Kind::warn, cause, percent});
        warned_[key] = span.end_ns;
    }
    std::erase_if(warned_,
                  [&](const auto& cause) { return cause.second + forget_ns <= span.end_ns; });
}

std::vector<BrakeAction> Brake::judge(const Overhead& span, const OverheadLimit& limit,
                                      const SamplingSettings& sampling) {
    std::vector<BrakeAction> actions;
    if (span.end_ns <= judged_ns_ || span.begin_ns < acted_ns_ || span.begin_ns >= span.end_ns)
        return actions;
    judged_ns_ = span.end_ns;
    const auto least_ns = least_load * static_cast<double>(span.end_ns - span.begin_ns);
    double total = 0;
    for (const Cause& cause : span.causes)
        total += static_cast<double>(cause.cost_ns);
    // What is lost comes first: much of what the others cost then is the ring's being full.
    const auto is_lossy = [](uint64_t lost, uint64_t kept) {
        return static_cast<double>(lost) > most_lost * static_cast<double>(lost + kept);
    };
    const auto waits = std::ranges::find(span.causes, Cause::Kind::waits, &Cause::kind);
    if (limit.brakes && sampling.wall && waits != span.causes.end() &&
        is_lossy(span.lost_wait_samples, span.wait_samples)) {
        actions.push_back(slow_down_waits(span, *waits, sampling));
        actions.back().for_losses = true;
    }
    if (span.target_ns && total >= least_ns) {
        if (limit.brakes && actions.empty())
            reduce(actions, span, limit.percent / 100 * static_cast<double>(span.target_ns),
                   sampling);
        warn(actions, span, limit);
    }
    return actions;
}

} // namespace auger
