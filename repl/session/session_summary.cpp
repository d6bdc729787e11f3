// SPDX-License-Identifier: GPL-3.0-or-later
// What the prompt and the live view say of a session.
#include "repl/session/presets.h"
#include "repl/session/session.h"
#include "repl/session/spelling.h"

#include "views/escape.h"
#include "views/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

std::string split_summary(const std::string& probe, const SplitSetting& split) {
    std::string text = probe;
    if (split.threshold.kind != Threshold::Kind::none)
        text += " " + format_threshold(split.threshold);
    if (!split.branch.empty())
        text += " " + split.branch.text();
    if (!split.label.empty())
        text += " by " + split.label;
    return text;
}

} // namespace

// "nginx 4711": the number alone says nothing to a reader.
std::string Session::name_of_process(pid_t pid) const {
    for (const TargetStatus::Process& process : backend_.target_status().processes)
        if (process.pid == pid && !process.comm.empty())
            return fmt::format("{} {}", process.comm, pid);
    return fmt::format("{}", pid);
}

bool Session::waits_for_target() const {
    const auto running = [](const TargetStatus::Process& process) { return process.running; };
    return settings().target.kind == TargetSpec::Kind::name &&
           std::ranges::none_of(backend_.target_status().processes, running);
}

std::string Session::target_name() const {
    const TargetSpec& target = settings().target;
    switch (target.kind) {
    case TargetSpec::Kind::none:
        break;
    case TargetSpec::Kind::pids:
        return target.pids.size() == 1 ? name_of_process(target.pids[0])
                                       : fmt::format("{} processes", target.pids.size());
    case TargetSpec::Kind::name:
        return target.name;
    case TargetSpec::Kind::all:
        return "everything";
    case TargetSpec::Kind::command: {
        const std::string& path = target.command.front();
        return path.substr(path.rfind('/') + 1);
    }
    }
    return {};
}

std::string Session::summary() const {
    std::string text;
    if (backend_.replaying()) {
        text = "replay";
    } else {
        text = target_name();
        if (text.empty())
            return {};
        const SamplingSettings& sampling = settings().sampling;
        if (sampling.rate_hz != 0 || sampling.raised_hz != 0)
            text += fmt::format(" {}{}{} Hz", sampling.wall ? "wall " : "", sampling.rate_hz,
                                sampling.raised_hz ? fmt::format("/{}", sampling.raised_hz) : "");
    }
    if (settings().split.active) {
        if (const ProbeSetting* probe = settings().find(settings().split.probe))
            text += " " + split_summary(probe->text, settings().split);
    }
    return elide_middle(escape_untrusted(text), 48);
}

ScreenState Session::screen_state() const {
    ScreenState state;
    state.window = settings().window;
    if (!(settings().filter == FilterSpec()))
        state.filter = filter_text(settings().filter);
    state.replaying = backend_.replaying();
    state.target = state.replaying ? "replay" : target_name();
    state.rate_hz = state.replaying ? static_cast<double>(model_.ledger().rate_hz)
                                    : static_cast<double>(std::max(settings().sampling.rate_hz,
                                                                   settings().sampling.raised_hz));
    state.symbols = backend_.symbol_progress();
    state.hosts = backend_.hosts();
    if (!state.replaying && settings().probes.empty())
        state.spans_of = preset_programs(backend_.target_status());
    return state;
}

} // namespace auger
