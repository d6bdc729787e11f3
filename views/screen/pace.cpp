// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/pace.h"

#include "views/format.h"

#include <algorithm>
#include <fmt/format.h>

namespace auger {

namespace {

constexpr double share_of_time = 0.03;
// When the target has ended, time stands still; the last of what came is shown all the same.
constexpr uint32_t most_refreshes = 20;

// What commands have put in force that changes the answer. A percentile's present value is none of
// it: that moves all the time.
std::string question(const Model& model) {
    const SplitInfo& split = model.split();
    std::string text =
        split.active
            ? fmt::format("{} {} {} {} {}", split.probe.value, format_threshold(split.threshold),
                          split.threshold.fixed_ns, split.so_far, split.branch.text())
            : std::string();
    text += "\n" + split.label + "\n" + model.only().text;
    for (const auto& [id, probe] : model.probes())
        text += fmt::format("\n{} {} {}", id.value, probe.specs.size(), probe.deleted);
    return text;
}

} // namespace

bool Pace::due(const Model& model, const Scope& scope, double cost_ns) {
    const uint64_t now = model.now_ns();
    const uint64_t events = model.samples_received() + model.slow_calls_received();
    std::string asked = question(model);
    other_ = !begun_ || !(scope == scope_) || asked != question_;
    refreshes_++;
    const double pause = std::max(static_cast<double>(least_ns_), cost_ns / share_of_time);
    const bool late = static_cast<double>(now - std::min(now, now_ns_)) >= pause;
    const bool stands_still = refreshes_ >= most_refreshes && events != events_ &&
                              cost_ns / share_of_time < static_cast<double>(refreshes_) * 100e6;
    if (!other_ && !late && !stands_still)
        return false;
    scope_ = scope;
    question_ = std::move(asked);
    now_ns_ = now;
    events_ = events;
    refreshes_ = 0;
    begun_ = true;
    return true;
}

} // namespace auger
