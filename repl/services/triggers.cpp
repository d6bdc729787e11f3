// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/triggers.h"

#include "loader/process/file_series.h"
#include "repl/services/waiting.h"
#include "views/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace auger {
namespace {

constexpr uint64_t names_patience_ns = 2'000'000'000; // for names
// What is kept beyond what was asked for: until names have come and the file is written.
constexpr uint64_t slack_ns = 3'000'000'000;
const std::array<std::string, 1> extensions = {".auger"};

} // namespace

Result<void> Triggers::set(const std::vector<Trigger>& triggers) {
    uint64_t span = 0;
    for (const Trigger& trigger : triggers) {
        span = std::max(span, trigger.span_ns);
        if (auto made = make_folder(trigger.folder); !made)
            return made;
    }
    const uint64_t keep = triggers.empty() ? 0 : span + slack_ns;
    if (keep != kept_ns_) {
        if (auto kept = backend_.keep_last(std::chrono::nanoseconds(keep)); !kept)
            return kept;
    }
    kept_ns_ = keep;
    if (states_.empty())
        seen_ = model_.slow_calls_received();
    std::map<ProbeId, State> states;
    for (const Trigger& trigger : triggers) {
        State& state = states[trigger.probe];
        if (const auto known = states_.find(trigger.probe); known != states_.end())
            state = known->second;
        state.trigger = trigger;
    }
    states_ = std::move(states);
    return {};
}

void Triggers::work() {
    if (task_ && task_->ended())
        collect();
    look();
    const uint64_t now = backend_.now_ns();
    for (auto& [id, state] : states_) {
        const bool due = state.due_ns != 0 && (backend_.symbol_progress().pending == 0 ||
                                               now >= state.due_ns + names_patience_ns);
        if (due && !task_)
            start_writing(state);
    }
}

void Triggers::look() {
    const auto& calls = model_.slow_calls();
    const uint64_t fresh = std::min<uint64_t>(model_.slow_calls_received() - seen_, calls.size());
    seen_ = model_.slow_calls_received();
    for (auto call = calls.end() - static_cast<ptrdiff_t>(fresh); call != calls.end(); ++call) {
        const size_t spec = call->end.call.spec.index();
        if (spec >= model_.specs().size())
            continue;
        const auto state = states_.find(model_.specs()[spec].probe);
        if (state != states_.end())
            fire(state->second, *call);
    }
}

void Triggers::fire(State& state, const SlowCall& call) {
    const uint64_t now = backend_.now_ns();
    if (state.due_ns != 0 || now < state.next_ns) {
        state.passed_over++;
        return;
    }
    const ProbeInfo* probe = model_.find_probe(state.trigger.probe);
    state.next_ns = now + state.trigger.rest_ns;
    state.due_ns = now;
    state.duration_ns = call.end.duration_ns;
    state.path =
        fmt::format("{}/slow-{}_{}{}", state.trigger.folder,
                    plain_name(probe ? probe->text : "", 64), time_stamp(utc_ns_()), extensions[0]);
}

void Triggers::start_writing(State& state) {
    const std::string path = state.path, folder = state.trigger.folder;
    const size_t keep = state.trigger.keep;
    state.due_ns = 0;
    task_text_ = fmt::format("a call of {} recorded to {}",
                             format_duration(static_cast<double>(state.duration_ns)), path);
    if (state.passed_over)
        task_text_ += fmt::format(
            " ({} slow calls since the one before were too early for another)", state.passed_over);
    state.passed_over = 0;
    const auto write = [&](int) -> Result<void> {
        if (auto written = backend_.write_last(path); !written)
            return written;
        const std::string name = path.substr(folder.size() + 1);
        const size_t stamp = name.size() - extensions[0].size() - time_stamp(0).size() - 1;
        std::vector<std::string> kept(extensions.begin(), extensions.end());
        for (const HostReport& host : backend_.hosts()) // a file each
            kept.push_back("-" + host_file_name(host.name) + extensions[0]);
        return remove_old_files(folder, name.substr(0, stamp), kept, keep);
    };
    auto task = ForkedTask::start("auger-record", write, {.makes_files = true});
    if (task)
        task_.emplace(std::move(*task));
    else
        fail(task.error().message());
}

void Triggers::collect() {
    auto done = task_->take();
    task_.reset();
    if (!done)
        return fail(done.error().message());
    written_++;
    news_.push_back(task_text_);
}

void Triggers::fail(const std::string& problem) {
    if (failed_++ == 0)
        first_problem_ = problem;
    news_.push_back(fmt::format("a slow call is not recorded: {}", problem));
}

Result<void> Triggers::outcome() const {
    if (failed_ == 0)
        return {};
    return Error{"record", "slow calls",
                 fmt::format("{} of {} were not recorded", failed_, failed_ + written_),
                 "the first: " + first_problem_};
}

void Triggers::add_wake_fds(std::vector<int>& fds) const {
    if (task_)
        fds.push_back(task_->wake_fd());
}

uint64_t Triggers::due_ns() const {
    const bool waits =
        std::ranges::any_of(states_, [](const auto& entry) { return entry.second.due_ns != 0; });
    return waits && !task_ ? backend_.now_ns() + retry_interval_ns : UINT64_MAX;
}

void Triggers::finish() {
    look();
    if (task_)
        collect();
    for (auto& [id, state] : states_) {
        if (state.due_ns == 0)
            continue;
        start_writing(state);
        if (task_)
            collect();
    }
}

} // namespace auger
