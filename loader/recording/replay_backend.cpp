// SPDX-License-Identifier: GPL-3.0-or-later
// Two passes over the files: the first, at opening, learns what the recordings have; the second
// delivers them, as far as the console lets time pass.
#include "loader/recording/replay_backend.h"

#include "loader/recording/playback_clock.h"
#include "loader/recording/recorded_answers.h"
#include "loader/recording/replay_stream.h"
#include "loader/recording/replay_survey.h"
#include "loader/stream/tee.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

namespace auger {
namespace {

bool readable(int fd) {
    pollfd wake{fd, POLLIN, 0};
    return fd >= 0 && ::poll(&wake, 1, 0) > 0;
}

class ReplayBackend final : public Backend {
  public:
    ReplayBackend(ReplaySurvey survey, EventSink& sink, const ReplayOptions& options)
        : path_(survey.recordings.name()), summary_(std::move(survey.summary)), span_(survey.span),
          damage_(std::move(survey.damage)), recordings_(std::move(survey.recordings)),
          stream_(summary_, sink), names_(std::move(survey.names)), clock_(span_.first_ns) {
        told_.add(stream_);
        if (names_)
            told_.add(*names_);
        if (options.speed)
            playback_.emplace(*options.speed, std::chrono::steady_clock::now());
    }

    bool replaying() const override { return true; }
    bool live() const override { return playback_.has_value(); }
    uint64_t now_ns() const override { return clock_; }

    Result<void> set_target(const TargetSpec& target) override {
        if (target.kind == TargetSpec::Kind::none)
            return {};
        return refuse("set target", {});
    }
    TargetStatus target_status() const override {
        TargetStatus status;
        const bool several = summary_.machines().size() > 1;
        for (const auto& [process, comm] : summary_.processes()) {
            const auto& [machine, pid] = process;
            const std::string where =
                several ? " on " + summary_.machines()[machine.index()].name : "";
            status.processes.push_back({static_cast<pid_t>(pid), comm + where, {}, false, {}});
        }
        return status;
    }
    Result<void> start_command() override { return {}; }

    Result<ProbeReport> add_probe(const ProbeRequest&) override;
    Result<ProbePlan> plan_probe(const std::string& text) override {
        return Error{"time --dry-run", text, "a recording holds no code",
                     "observe the running program: `auger -p PID`"};
    }
    Result<CallSites> find_call_sites(const std::string& function) override {
        return Error{"sites", function, "a recording holds no code",
                     "observe the running program: `auger -p PID`"};
    }
    Result<UsdtProbes> find_usdt_probes(const std::string& pattern) override {
        return Error{"probes usdt", pattern, "a recording holds no files",
                     "observe the running program: `auger -p PID`"};
    }
    Result<Listeners> find_listeners() override {
        return Error{"find where the target listens", "", "a recording does not say",
                     "observe the running program: `auger -p PID`"};
    }
    Result<Tracepoints> list_tracepoints(const std::string& pattern) override {
        return Error{"probes tracepoint", pattern, "a recording holds no kernel",
                     "observe a running program: `auger -p PID`"};
    }
    Result<void> remove_probe(ProbeId) override;
    Result<void> set_attached(ProbeId id, bool) override {
        return refuse("attach or take off probe", fmt::format("#{}", id.value));
    }
    Result<void> set_slow(ProbeId, const Threshold&, const CallConditions&) override;
    Result<void> set_only(const OnlyInfo&) override;
    Result<void> set_explained(const ExplainRequest& wanted) override {
        return wanted.active ? refuse("explain", {}) : Result<void>();
    }
    Result<std::vector<OpenCall>> open_calls(std::optional<ProbeId>) override {
        return Error{"list open calls", "", "a recording does not hold what is running now",
                     "observe the running program: `auger -p PID`"};
    }
    Result<std::vector<ThreadNow>> threads_now() override {
        return Error{"list threads", "", "a recording does not hold what is running now",
                     "observe the running program: `auger -p PID`"};
    }
    Result<void> set_split(const SplitInfo&) override;
    Result<void> set_sampling(const SamplingSettings& settings) override {
        return check_sampling(summary_, settings);
    }
    Result<void> set_filter(const FilterSpec& filter) override {
        if (filter == FilterSpec())
            return {};
        return refuse("filter", {});
    }
    Result<void> set_way_out(WayOut way) override {
        if (way == WayOut::automatic)
            return {};
        return refuse("choose exit probes", {});
    }
    void add_notice(const std::string& text) override { stream_.on_notice(clock_, text); }
    Result<void> record(const std::string& path) override {
        if (path.empty())
            return {};
        return Error{"record", path, "this is a recording already", "copy " + path_};
    }
    Result<void> record_intervals(const IntervalRecording& wanted) override {
        if (wanted.folder.empty())
            return {};
        return Error{"record", wanted.folder, "this is a recording already", "copy " + path_};
    }
    Result<void> keep_last(std::chrono::nanoseconds span) override {
        if (span == std::chrono::nanoseconds(0))
            return {};
        return refuse("keep", {});
    }
    Result<void> write_last(const std::string& path) const override {
        return refuse("write", path);
    }

    std::vector<uint64_t> links() const override { return {}; }
    std::vector<Capability> capabilities() const override;
    SymbolProgress symbol_progress() const override {
        return names_ ? names_->progress() : SymbolProgress();
    }
    UnwindStatus unwind_status() const override { return {}; }
    std::vector<std::string> complete_function(std::string_view prefix,
                                               size_t limit) const override {
        return recorded_functions(summary_, prefix, limit);
    }

    Result<bool> poll(std::chrono::nanoseconds timeout, int wake_fd) override;
    Result<void> refresh() override {
        stream_.announce();
        tell_names();
        return {};
    }
    void settle_symbols(std::chrono::nanoseconds timeout) override {
        if (names_)
            names_->settle(stream_, timeout);
        tell_names();
    }

  private:
    Error refuse(std::string operation, std::string subject) const {
        return {std::move(operation), std::move(subject),
                "a recording has only the target that was observed", recorded_probes(summary_)};
    }
    std::optional<ProbeId> find(const ProbeRequest& request) const;
    // Delivers what happened until then; false at the end.
    bool deliver(uint64_t until_ns);
    Result<bool> play(std::chrono::nanoseconds timeout, int wake_fd);
    // What is to be known before the first event.
    void begin();
    void tell_damage();
    // Those that were found meanwhile, and where there are none.
    void tell_names();
    // The recorded id of a probe that the console has not deleted.
    Result<ProbeId> known(std::string operation, ProbeId shown) const;

    std::string path_;
    RecordingSummary summary_;
    StreamSpan span_;    // of all that is wanted
    std::string damage_; // as far as it was seen
    MergedRecordings recordings_;
    ReplayStream stream_;
    std::unique_ptr<OfflineNames> names_;   // null: as recorded
    Tee told_;                              // to these two
    std::optional<PlaybackClock> playback_; // of a replay at a speed
    uint64_t clock_;
    bool started_ = false;
};

// Of several recorded probes with the text, one that the console has not taken yet, and rather one
// that traces slow calls as asked.
std::optional<ProbeId> ReplayBackend::find(const ProbeRequest& request) const {
    std::optional<ProbeId> best;
    int best_rank = -1;
    for (const auto& [id, probe] : summary_.probes()) {
        if (probe.first.text != request.text)
            continue;
        const bool free = !stream_.asked_for(id) || stream_.removed(id);
        const bool alike = (request.slow.kind == Threshold::Kind::none) == probe.slow.empty();
        const int rank = 4 * free + 2 * recorded_slow(probe, request.slow) + alike;
        if (rank > best_rank) {
            best = id;
            best_rank = rank;
        }
    }
    return best_rank >= 4 ? best : std::nullopt;
}

Result<ProbeReport> ReplayBackend::add_probe(const ProbeRequest& request) {
    const auto recorded = find(request);
    if (!recorded)
        return refuse("add probe", request.text);
    if (auto checked = check_slow(summary_.probes().at(*recorded), request.slow); !checked)
        return checked.error();
    // Nothing asked for: as it was recorded.
    if (!(request.conditions == CallConditions())) {
        if (auto checked = check_conditions(summary_.probes().at(*recorded), request.conditions);
            !checked)
            return checked.error();
        stream_.set_conditions(*recorded, request.conditions);
    }
    stream_.show(*recorded, request.id);
    if (request.slow.kind != Threshold::Kind::none)
        stream_.set_slow(*recorded, request.slow);
    ProbeReport report;
    for (const SpecId id : summary_.probes().at(*recorded).specs) {
        const SpecInfo& spec = summary_.specs()[id.index()];
        report.places.push_back(
            {id, spec.function, spec.module, spec.offset, "entry+" + spec.way_out.text(), {}});
    }
    report.pending = report.places.empty();
    report.notes.push_back("as recorded");
    return report;
}

Result<ProbeId> ReplayBackend::known(std::string operation, ProbeId shown) const {
    const auto recorded = stream_.recorded(shown);
    if (!recorded || !summary_.probes().contains(*recorded) || stream_.removed(*recorded))
        return Error{std::move(operation), std::to_string(shown.value), "no such probe",
                     recorded_probes(summary_)};
    return *recorded;
}

Result<void> ReplayBackend::remove_probe(ProbeId id) {
    const auto recorded = known("delete probe", id);
    if (!recorded)
        return recorded.error();
    stream_.remove(*recorded);
    return {};
}

Result<void> ReplayBackend::set_slow(ProbeId id, const Threshold& slow,
                                     const CallConditions& conditions) {
    const auto recorded = known("trace slow calls of probe", id);
    if (!recorded)
        return recorded.error();
    if (auto checked = check_slow(summary_.probes().at(*recorded), slow); !checked)
        return checked;
    if (auto checked = check_conditions(summary_.probes().at(*recorded), conditions); !checked)
        return checked;
    stream_.set_slow(*recorded, slow);
    stream_.set_conditions(*recorded, conditions);
    return {};
}

Result<void> ReplayBackend::set_split(const SplitInfo& asked) {
    SplitInfo split = asked;
    if (split.active) {
        const auto recorded = known("split on probe", split.probe);
        if (!recorded)
            return recorded.error();
        if (auto found = find_recorded_split(summary_, *recorded, split); !found)
            return found;
    }
    stream_.set_split(split);
    return {};
}

Result<void> ReplayBackend::set_only(const OnlyInfo& asked) {
    Gate gate = asked.gate;
    for (GateTerm& term : gate.terms) {
        if (term.kind != GateTerm::Kind::call)
            continue;
        const auto recorded = known("keep calls of probe", term.probe);
        if (!recorded)
            return recorded.error();
        term.probe = *recorded;
    }
    OnlyInfo only = asked;
    if (auto found = find_recorded_only(summary_, gate, only); !found)
        return found;
    stream_.set_only(only);
    return {};
}

std::vector<Capability> ReplayBackend::capabilities() const {
    const double seconds = static_cast<double>(span_.last_ns - span_.first_ns) / 1e9;
    return {{"recording",
             damage_.empty() ? Capability::State::available : Capability::State::degraded,
             damage_.empty()
                 ? fmt::format("{}: {:.3f} s{}", path_, seconds,
                               recordings_.is_part() ? " that were chosen"
                                                     : fmt::format(" with {} events", span_.events))
                 : damage_,
             {}}};
}

void ReplayBackend::tell_names() {
    if (!names_)
        return;
    names_->deliver(stream_);
    if (const std::string problems = names_->take_problems(); !problems.empty())
        stream_.on_notice(clock_, problems);
}

void ReplayBackend::begin() {
    if (std::exchange(started_, true))
        return;
    for (const std::string& note : recordings_.notes())
        stream_.on_notice(clock_, note);
    if (!damage_.empty())
        stream_.on_notice(clock_, damage_);
}

// What the first pass has not seen, since it read no events.
void ReplayBackend::tell_damage() {
    std::string damage = recordings_.damage_text();
    if (damage_.find(damage) != std::string::npos)
        return;
    damage_ = std::move(damage);
    stream_.on_notice(clock_, damage_);
}

bool ReplayBackend::deliver(uint64_t until_ns) {
    // Without names to find, the stream need not go through both.
    EventSink& into = names_ ? static_cast<EventSink&>(told_) : stream_;
    const MergedRecordings::State state = recordings_.deliver(into, until_ns);
    tell_names();
    tell_damage();
    if (state == MergedRecordings::State::end) {
        clock_ = std::max(clock_, std::min(until_ns, recordings_.span().last_ns));
        return false;
    }
    clock_ = until_ns;
    return true;
}

// Waits no longer than `timeout`, and delivers no more than that of the recording's time.
Result<bool> ReplayBackend::play(std::chrono::nanoseconds timeout, int wake_fd) {
    constexpr std::chrono::milliseconds step{20};
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t events = recordings_.span().events;
    auto left = static_cast<uint64_t>(std::max<int64_t>(timeout.count(), 0));
    left = std::min(left, UINT64_MAX - clock_);
    while (true) {
        const auto now = std::chrono::steady_clock::now();
        const uint64_t due = playback_->take(now, left);
        left -= due;
        if (!deliver(clock_ + due))
            return false;
        stream_.pass_time(clock_);
        const auto waited = now - begin;
        if (left == 0 || waited >= timeout || recordings_.span().events != events)
            return true;
        pollfd wake{wake_fd, POLLIN, 0};
        const auto pause = std::min<std::chrono::nanoseconds>(step, timeout - waited);
        if (::poll(&wake, 1,
                   static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(pause).count())) !=
            0)
            return true; // or a signal
    }
}

Result<bool> ReplayBackend::poll(std::chrono::nanoseconds timeout, int wake_fd) {
    begin();
    stream_.announce();
    if (playback_)
        return play(timeout, wake_fd);
    const auto wait = static_cast<uint64_t>(std::max<int64_t>(timeout.count(), 0));
    const uint64_t deadline = clock_ + std::min(wait, UINT64_MAX - clock_);
    // In slices, so that a long recording can be interrupted; longer ones where nothing happened.
    constexpr uint64_t shortest_slice = 1'000'000'000;
    uint64_t slice = shortest_slice;
    do {
        const uint64_t until = clock_ + std::min(slice, deadline - clock_);
        const uint64_t before = recordings_.span().events;
        if (!deliver(until))
            return false;
        slice = recordings_.span().events == before && slice < UINT64_MAX / 2 ? 2 * slice
                                                                              : shortest_slice;
    } while (clock_ < deadline && !readable(wake_fd));
    stream_.pass_time(clock_);
    return true;
}

} // namespace

Result<std::unique_ptr<Backend>> open_replay(std::span<const std::string> paths, EventSink& sink,
                                             const ReplayOptions& options) {
    auto survey = survey_recordings(paths, options);
    if (!survey)
        return survey.error();
    return std::unique_ptr<Backend>(
        std::make_unique<ReplayBackend>(std::move(*survey), sink, options));
}

} // namespace auger
