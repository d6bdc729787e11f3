// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/hosts_backend.h"

#include "loader/base/read_clock.h"
#include "loader/remote/edit_everywhere.h"
#include "loader/remote/joined_reports.h"
#include "loader/remote/record_hosts.h"
#include "loader/remote/sample_fold.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger::remote {

namespace {

using std::chrono::nanoseconds;

// How long hosts may be at work on what they were asked: files are read for a minute at most. Once
// one has answered, the others are not waited for much longer, by a script for longer than by a
// user.
constexpr std::chrono::seconds longest_edit{75}, longest_edit_at_terminal{10};
constexpr std::chrono::seconds longest_behind{10}, longest_behind_at_terminal{2};
// A relay answers before its console gives it up: with one host less, and not with none.
Hosts::Patience patience_of(const HostsOptions& options) {
    const bool at_terminal = options.open.at_terminal;
    const nanoseconds longest = at_terminal ? longest_edit_at_terminal : longest_edit,
                      behind = at_terminal ? longest_behind_at_terminal : longest_behind;
    return options.relays ? Hosts::Patience{longest * 5 / 6, behind / 2}
                          : Hosts::Patience{longest, behind};
}
constexpr std::chrono::milliseconds longest_completion{300};
constexpr std::chrono::milliseconds delivered_at_once{5};

class HostsBackend final : public Backend {
  public:
    HostsBackend(const HostsOptions& options, EventSink& sink)
        : fold_(options.relays ? std::make_unique<SampleFold>(sink) : nullptr),
          sink_(fold_ ? *fold_ : sink), hosts_(options, settings_, sink_),
          patience_(patience_of(options)) {}

    Result<void> begin() { return hosts_.begin(); }

    bool replaying() const override { return false; }
    uint64_t now_ns() const override { return hosts_.now_ns(); }

    Result<void> set_target(const TargetSpec& target) override {
        if (target.kind == TargetSpec::Kind::command)
            return Error{"start", "", "a command cannot be started on other hosts",
                         "start it there, and observe it: `target -n NAME`", Error::Kind::usage};
        return edit({SetTarget{target}, SetTarget{settings_.target}, CheckTarget{target}},
                    [&] { settings_.target = target; });
    }
    Result<void> check_target(const TargetSpec& target) override {
        return check_everywhere(hosts_, CheckTarget{target}, patience_);
    }
    TargetStatus target_status() const override;
    Result<void> start_command() override { return {}; }

    Result<ProbeReport> add_probe(const ProbeRequest& request) override;
    Result<void> check_probe(const ProbeRequest& request) override {
        return check_everywhere(hosts_, CheckProbe{request}, patience_);
    }
    Result<ProbePlan> plan_probe(const std::string& text) override {
        return question<ProbePlan>(PlanProbe{text});
    }
    Result<void> remove_probe(ProbeId id) override;
    Result<void> set_attached(ProbeId id, bool attached) override;
    Result<CallSites> find_call_sites(const std::string& function) override {
        return question<CallSites>(FindCallSites{function});
    }
    Result<UsdtProbes> find_usdt_probes(const std::string& pattern) override {
        return question<UsdtProbes>(FindUsdtProbes{pattern});
    }
    Result<Listeners> find_listeners() override { return question<Listeners>(FindListeners{}); }
    Result<Tracepoints> list_tracepoints(const std::string& pattern) override {
        return question<Tracepoints>(ListTracepoints{pattern});
    }
    Result<void> set_slow(ProbeId id, const Threshold& threshold,
                          const CallConditions& conditions) override;
    Result<void> set_split(const SplitInfo& split) override {
        return edit(
            {SetSplit{settings_.numbered(split)}, SetSplit{settings_.numbered(settings_.split)}},
            [&] { hosts_.common().ask(settings_.split = split); });
    }
    Result<void> set_explained(const ExplainRequest& explain) override {
        return edit({SetExplained{settings_.numbered(explain)},
                     SetExplained{settings_.numbered(settings_.explain)}},
                    [&] { settings_.explain = explain; });
    }
    Result<void> set_only(const OnlyInfo& only) override {
        return edit(
            {SetOnly{settings_.numbered(only)}, SetOnly{settings_.numbered(settings_.only)}},
            [&] { hosts_.common().ask(settings_.only = only); });
    }
    Result<std::vector<OpenCall>> open_calls(std::optional<ProbeId> probe) override;
    Result<std::vector<ThreadNow>> threads_now() override;
    Result<void> set_sampling(const SamplingSettings& sampling) override {
        return edit({SetSampling{settings_.numbered(sampling)},
                     SetSampling{settings_.numbered(settings_.sampling)}},
                    [&] { settings_.sampling = sampling; });
    }
    Result<void> set_filter(const FilterSpec& filter) override {
        return edit({SetFilter{filter}, SetFilter{settings_.filter}},
                    [&] { settings_.filter = filter; });
    }
    Result<void> set_way_out(WayOut way) override {
        return edit({SetWayOut{way}, SetWayOut{settings_.way}}, [&] { settings_.way = way; });
    }
    void add_notice(const std::string& text) override { sink_.on_notice(now_ns(), text); }
    // Each host's is a recording of its own (record_hosts.h).
    Result<void> record(const std::string& path) override {
        settle_before(path.empty());
        return record_hosts(hosts_, path);
    }
    Result<void> record_intervals(const IntervalRecording& wanted) override {
        settle_before(wanted.folder.empty());
        return record_intervals_of_hosts(hosts_, wanted);
    }
    IntervalRecordings interval_recordings() const override { return intervals_of_hosts(hosts_); }
    Result<void> keep_last(nanoseconds span) override {
        keep_last_of_hosts(hosts_, span);
        return {};
    }
    Result<void> write_last(const std::string& path) const override {
        return write_last_of_hosts(hosts_, path);
    }

    std::vector<uint64_t> links() const override {
        std::vector<uint64_t> all;
        for (const auto& host : hosts_.all())
            if (host->observes())
                all.insert(all.end(), host->link().state().links.begin(),
                           host->link().state().links.end());
        std::ranges::sort(all);
        return all;
    }
    std::vector<Capability> capabilities() const override {
        return joined(of_agents<std::vector<Capability>>(
            [](const AgentLink& link) { return link.report().capabilities; }));
    }
    SymbolProgress symbol_progress() const override {
        SymbolProgress progress = joined(
            of_agents<SymbolProgress>([](const AgentLink& link) { return link.state().symbols; }));
        progress.bytes = 0; // what agents hold is theirs
        for (const auto& host : hosts_.all())
            progress.bytes += host->recording().memory_bytes();
        return progress;
    }
    UnwindStatus unwind_status() const override {
        return joined(
            of_agents<UnwindStatus>([](const AgentLink& link) { return link.state().unwind; }));
    }
    ReaderStatus reader_status() const override {
        return joined(
            of_agents<ReaderStatus>([](const AgentLink& link) { return link.state().readers; }));
    }
    std::vector<HostReport> hosts() const override { return hosts_.reports(); }
    std::vector<std::string> complete_function(std::string_view prefix,
                                               size_t limit) const override;

    Result<bool> poll(nanoseconds timeout, int wake_fd) override;
    Result<void> refresh() override {
        hosts_.ask(hosts_.live(), Refresh{}, {silent_is_stale}, Hosts::Unanswered::forgotten);
        catch_up();
        return {};
    }
    void settle_symbols(nanoseconds timeout) override {
        hosts_.ask(hosts_.live(), SettleSymbols{timeout}, {timeout + silent_is_stale},
                   Hosts::Unanswered::forgotten);
        catch_up();
    }

  private:
    // Makes an edit on every host, or, where one refuses, on none; then `commit`.
    template <typename Commit>
    Result<void> edit(const EditRequests& requests, const Commit& commit) {
        const Hosts::Edit edit(hosts_);
        auto made = edit_everywhere(hosts_, requests, patience_);
        if (!made)
            return made.error();
        commit();
        catch_up();
        return {};
    }
    // Asks what runs now; `take` is given the host's stream and each that it tells of.
    template <typename Request, typename Take>
    Result<void> ask_what_runs(const Request& request, Take take);
    // Asks what changes nothing; one that cannot answer is left out where others can.
    template <typename Answer>
    Result<Answer> question(const Request& request);
    template <typename T, typename Of>
    OfHosts<T> of_agents(const Of& of) const {
        OfHosts<T> all;
        for (const auto& host : hosts_.all())
            if (host->observes())
                all.emplace_back(host->name(), of(host->link()));
        return all;
    }
    Result<SettingsInForce::Probe*> probe(const char* operation, ProbeId id) {
        const auto found = settings_.probes.find(id);
        if (found == settings_.probes.end())
            return Error{operation, std::to_string(id.value), "no such probe", ""};
        return &found->second;
    }

    // Before what they say of it is delivered.
    void announce(const SettingsInForce::Probe& probe) {
        ProbeInfo asked;
        asked.id = probe.request.id;
        asked.text = probe.request.text;
        asked.slow = probe.request.slow;
        asked.conditions = probe.request.conditions;
        asked.span = probe.request.span.text;
        hosts_.common().announce(probe.number, asked);
    }

    // What is recorded ends with all that was, or begins behind what was.
    void settle_before(bool end) {
        if (end)
            (void)refresh();
        else
            catch_up();
    }
    // Whole answers: what was there is here, and has gone on.
    void catch_up() {
        hosts_.catch_up();
        if (fold_)
            fold_->flush();
    }

    const std::unique_ptr<SampleFold> fold_; // of a relay
    EventSink& sink_;
    SettingsInForce settings_;
    uint32_t next_number_ = 1; // of a probe, for agents
    mutable Hosts hosts_;
    const Hosts::Patience patience_;
};

template <typename Answer>
Result<Answer> HostsBackend::question(const Request& request) {
    const Hosts::Answers answers =
        hosts_.ask(hosts_.live(), request, patience_, Hosts::Unanswered::forgotten);
    OfHosts<Error> refused;
    for (const auto& [host, answer] : answers)
        if (!answer)
            refused.emplace_back(host->name(), answer.error());
    if (!refused.empty() && refused.size() == answers.size())
        return joined(refused, answers.size());
    auto all = understood<Answer>(answers);
    if (!all)
        return all.error();
    if (all->empty())
        return Error{"ask", "the hosts", "none of them answers", "`status` says how they are"};
    return joined(*all);
}

TargetStatus HostsBackend::target_status() const {
    TargetStatus status{settings_.target, {}};
    for (const auto& host : hosts_.all()) {
        if (!host->observes())
            continue;
        for (TargetStatus::Process process : host->link().state().target.processes) {
            process.machine = host->name();
            status.processes.push_back(std::move(process));
        }
    }
    return status;
}

Result<ProbeReport> HostsBackend::add_probe(const ProbeRequest& request) {
    const ProbeId number{next_number_++};
    ProbeRequest asked = request;
    asked.id = number;
    const Hosts::Edit edit(hosts_);
    auto answers = edit_everywhere(
        hosts_, {AddProbe{asked}, RemoveProbe{number}, CheckProbe{asked}}, patience_);
    if (!answers)
        return answers.error();
    auto reports = understood<ProbeReport>(*answers);
    if (!reports)
        return reports.error();
    settings_.probes.insert_or_assign(request.id,
                                      SettingsInForce::Probe{number, request, settings_.way, true});
    announce(settings_.probes.at(request.id));
    catch_up();
    return joined(*reports);
}

Result<void> HostsBackend::remove_probe(ProbeId id) {
    auto known = probe("delete probe", id);
    if (!known)
        return known.error();
    const SettingsInForce::Probe old = **known;
    // It cannot be refused by one that has it.
    ProbeRequest again = old.request;
    again.id = old.number;
    return edit({RemoveProbe{old.number}, AddProbe{again}}, [&] { settings_.probes.erase(id); });
}

Result<void> HostsBackend::set_attached(ProbeId id, bool attached) {
    auto known = probe("attach or take off probe", id);
    if (!known)
        return known.error();
    SettingsInForce::Probe& of = **known;
    return edit({SetAttached{of.number, attached}, SetAttached{of.number, of.attached}},
                [&] { of.attached = attached; });
}

Result<void> HostsBackend::set_slow(ProbeId id, const Threshold& threshold,
                                    const CallConditions& conditions) {
    auto known = probe("trace slow calls of probe", id);
    if (!known)
        return known.error();
    SettingsInForce::Probe& of = **known;
    return edit({SetSlow{of.number, threshold, conditions},
                 SetSlow{of.number, of.request.slow, of.request.conditions}},
                [&] {
                    of.request.slow = threshold;
                    of.request.conditions = conditions;
                    announce(of);
                });
}

template <typename Request, typename Take>
Result<void> HostsBackend::ask_what_runs(const Request& request, Take take) {
    const Hosts::Answers answers =
        hosts_.ask(hosts_.live(), request, patience_, Hosts::Unanswered::forgotten);
    // Their stacks are defined by then.
    catch_up();
    OfHosts<Error> refused;
    for (const auto& [host, answer] : answers) {
        if (!answer) {
            refused.emplace_back(host->name(), answer.error());
            continue;
        }
        const auto told = decoded<typename Request::Answer>(*answer);
        if (!told) {
            refused.emplace_back(host->name(), Error{"ask what runs", host->name(),
                                                     "its answer cannot be understood", ""});
            continue;
        }
        for (const auto& one : *told)
            if (host->observes())
                take(host->stream(), one);
    }
    if (answers.empty())
        return Error{"ask what runs", "the hosts", "none of them answers",
                     "`status` says how they are"};
    if (refused.size() == answers.size())
        return joined(refused, answers.size());
    for (const auto& [name, error] : refused)
        add_notice(fmt::format("{} does not say what runs there: {}", name, error.message()));
    return {};
}

Result<std::vector<OpenCall>> HostsBackend::open_calls(std::optional<ProbeId> id) {
    ListOpenCalls request;
    if (id) {
        auto known = probe("list open calls of probe", *id);
        if (!known)
            return known.error();
        request.probe = (*known)->number;
    }
    std::vector<OpenCall> all;
    const auto asked = ask_what_runs(request, [&](const auto& stream, const OpenCall& call) {
        if (auto common = stream.common(call))
            all.push_back(std::move(*common));
    });
    if (!asked)
        return asked.error();
    std::ranges::stable_sort(all, std::greater(), &OpenCall::age_ns);
    return all;
}

Result<std::vector<ThreadNow>> HostsBackend::threads_now() {
    std::vector<ThreadNow> all;
    const auto asked =
        ask_what_runs(ListThreads{}, [&](const auto& stream, const ThreadNow& thread) {
            all.push_back(stream.common(thread));
        });
    if (!asked)
        return asked.error();
    return all;
}

std::vector<std::string> HostsBackend::complete_function(std::string_view prefix,
                                                         size_t limit) const {
    std::vector<std::string> names;
    const CompleteFunction request{std::string(prefix), static_cast<uint32_t>(limit)};
    for (const auto& [host, answer] :
         hosts_.ask(hosts_.live(), request, {longest_completion}, Hosts::Unanswered::forgotten))
        if (const auto some = answer ? decoded<std::vector<std::string>>(*answer) : std::nullopt)
            names.insert(names.end(), some->begin(), some->end());
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    names.resize(std::min(names.size(), limit));
    return names;
}

Result<bool> HostsBackend::poll(nanoseconds timeout, int wake_fd) {
    const uint64_t deadline =
        now_ns() + static_cast<uint64_t>(std::max<int64_t>(timeout.count(), 0));
    for (;;) {
        const bool woken =
            hosts_.wait_until(std::min(deadline, now_ns() + 20 * millisecond_ns), wake_fd);
        const size_t delivered =
            hosts_.deliver(TimeSlice([this] { return now_ns(); }, delivered_at_once));
        const std::vector<Host*> live = hosts_.live();
        const bool ended = !live.empty() && std::ranges::all_of(live, [](const Host* host) {
            return host->link().state().ended;
        });
        if (ended && delivered == 0) {
            if (fold_)
                fold_->flush();
            return false;
        }
        if (delivered || woken || now_ns() >= deadline)
            return true;
    }
}

} // namespace

Result<std::unique_ptr<Backend>> make_hosts_backend(const HostsOptions& options, EventSink& sink) {
    auto backend = std::make_unique<HostsBackend>(options, sink);
    if (auto begun = backend->begin(); !begun)
        return begun.error();
    return std::unique_ptr<Backend>(std::move(backend));
}

} // namespace auger::remote
