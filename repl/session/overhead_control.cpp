// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/overhead_control.h"

#include "loader/base/guarded.h"
#include "repl/session/spelling.h"
#include "views/format.h"
#include "views/overhead_text.h"
#include "views/spell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {
namespace {

using Step = BrakeAction::Kind;

// Settings that the action leads to.
struct Braked {
    Settings settings;
    std::string command; // that does the same
    std::string done;    // in words
    std::string back;    // the command that takes it back
};

ProbeSetting* find(Settings& settings, ProbeId id) {
    const auto probe = std::ranges::find(settings.probes, id, &ProbeSetting::id);
    return probe == settings.probes.end() ? nullptr : &*probe;
}

std::string sampling_commands(const Settings& settings) {
    const std::vector<std::string> lines = spell_sampling(settings);
    return lines.empty() ? "sample off" : fmt::format("{}", fmt::join(lines, "; "));
}

void lower_rate(SamplingSettings& sampling, uint32_t rate_hz) {
    if (!sampling.raised_hz) {
        sampling.rate_hz = rate_hz;
        return;
    }
    // The raised rate stays above the other.
    sampling.raised_hz = std::max(rate_hz, 2u);
    if (sampling.rate_hz)
        sampling.rate_hz = std::min(sampling.rate_hz, sampling.raised_hz / 2);
}

std::optional<Braked> braked(const Settings& before, const BrakeAction& action) {
    Braked to{before, "", "", sampling_commands(before)};
    SamplingSettings& sampling = to.settings.sampling;
    switch (action.kind) {
    case Step::warn:
        return {};
    case Step::lower_rate:
        lower_rate(sampling, action.rate_hz);
        to.done = fmt::format("it is sampled at {} Hz instead of {}",
                              std::max(sampling.rate_hz, sampling.raised_hz),
                              std::max(before.sampling.rate_hz, before.sampling.raised_hz));
        break;
    case Step::lower_waits:
        sampling.waits_hz = action.rate_hz;
        to.done =
            fmt::format("waits are sampled at {} Hz instead of {}, with stacks where a sample "
                        "is expected",
                        action.rate_hz,
                        before.sampling.waits_hz
                            ? before.sampling.waits_hz
                            : std::max(before.sampling.rate_hz, before.sampling.raised_hz));
        break;
    case Step::end_waits:
        sampling.wall = sampling.wakers = false;
        sampling.waits_hz = 0;
        to.done = "waits are no longer sampled";
        break;
    case Step::take_off: {
        ProbeSetting* probe = find(to.settings, action.cause.probe);
        if (!probe || probe->off)
            return {};
        probe->off = true;
        const std::string name = spell_word(probe->text);
        to.command = fmt::format("time {} off", name);
        to.back = fmt::format("time {}", name);
        to.done = "it is off, and what it collected stays";
        return to;
    }
    case Step::end_lines:
        to.settings.split.branch = {};
        if (to.settings.split.threshold.kind == Threshold::Kind::none &&
            to.settings.split.label.empty())
            to.settings.split = {};
        if (!to.settings.only.lines.empty())
            to.settings.only = {};
        to.command = "end of lines";
        to.back = "undo";
        to.done = "lines of split and only are no longer watched";
        break;
    }
    if (to.command.empty())
        to.command = sampling_commands(to.settings);
    if (to.settings == before)
        return {};
    return to;
}

std::string why(const Model& model, const BrakeAction& action, const Overhead& span) {
    const std::string cause = overhead_cause(model, action.cause);
    if (action.for_losses)
        return fmt::format("{} samples of waits were lost beside {} that came, in {}",
                           format_count(static_cast<double>(span.lost_wait_samples)),
                           format_count(static_cast<double>(span.wait_samples)),
                           format_duration(static_cast<double>(span.end_ns - span.begin_ns)));
    return fmt::format("{} took {} of the target's CPU time ({})", cause,
                       format_percent(action.percent / 100), overhead_figures(span, action.cause));
}

} // namespace

bool OverheadControl::work() {
    if (backend_.replaying())
        return false;
    const auto actions = brake_.judge(model_.ledger().overhead, editor_.settings().overhead,
                                      services_.sampling_in_force());
    if (actions.empty())
        return false;
    // What is done brings another one.
    const Overhead span = model_.ledger().overhead;
    for (const BrakeAction& action : actions) {
        const auto acted = guarded([&]() -> Result<bool> { return act(action, span); });
        if (!acted)
            backend_.add_notice("overhead: " + acted.error().message());
        if (!acted || *acted)
            brake_.acted(backend_.now_ns());
    }
    return true;
}

bool OverheadControl::act(const BrakeAction& action, const Overhead& span) {
    const std::string reason = why(model_, action, span);
    if (action.kind == Step::warn) {
        backend_.add_notice(
            editor_.settings().overhead.brakes
                ? fmt::format("overhead: {}; beyond {:g} % in all, the dearest cause is reduced "
                              "(\"help overhead\")",
                              reason, editor_.settings().overhead.percent)
                : fmt::format("overhead: {}; \"overhead 50\" would keep it below that", reason));
        return false;
    }
    Settings before = editor_.settings(), in_force = before;
    in_force.sampling = services_.sampling_in_force();
    const auto to = braked(in_force, action);
    if (!to)
        return false;
    if (services_.samples_for_clients() && !(to->settings.sampling == in_force.sampling)) {
        if (auto limited = services_.limit_clients(to->settings.sampling); !limited)
            backend_.add_notice("overhead: " + limited.error().message());
        else
            backend_.add_notice(
                fmt::format("overhead: {}: {}, for clients of the endpoint", reason, to->done));
        return true;
    }
    Settings wanted = to->settings;
    if (services_.samples_for_clients())
        wanted.sampling = before.sampling;
    const Execution execution = editor_.change(std::move(wanted));
    if (execution.error) {
        backend_.add_notice(
            fmt::format("overhead: {}: and it stays so: {}", reason, execution.error->message()));
        return true;
    }
    editor_.note_undo("overhead: " + to->command, std::move(before));
    backend_.add_notice(fmt::format("overhead: {}: {}; \"{}\" brings it back, and \"overhead off\" "
                                    "before it for good",
                                    reason, to->done, to->back));
    return true;
}

} // namespace auger
