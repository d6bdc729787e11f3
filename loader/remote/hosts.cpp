// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/hosts.h"

#include "loader/base/read_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>

namespace auger::remote {

namespace {

using std::chrono::nanoseconds;

// How often is looked at hosts from which nothing comes.
constexpr uint64_t look_ns = 20 * millisecond_ns;
// For how long the first hosts are waited for: where there is one, and where there is none to go on
// with.
constexpr std::chrono::seconds longest_begin{10}, longest_without_any{60}, longest_end{2};

uint64_t count_ns(nanoseconds time) {
    return static_cast<uint64_t>(std::max<int64_t>(time.count(), 0));
}

} // namespace

Hosts::Hosts(const HostsOptions& options, const SettingsInForce& settings, EventSink& sink)
    : clock_(options.clock ? options.clock : [] { return read_clock(CLOCK_MONOTONIC); }),
      go_on_(options.go_on), most_starting_(options.most_starting),
      common_(options.agents.size(), CommonStream::Probes::by_number),
      sink_(sink), surroundings_{
                       common_,
                       sink,
                       settings,
                       own_hello(options.program, options.relays
                                                      ? std::vector<std::string>()
                                                      : std::vector{std::string(feature_hosts)}),
                       options.open,
                       options.agents.size() == 1,
                       options.bytes_per_second,
                       [this](const std::string& text) { sink_.on_notice(clock_(), text); }} {
    uint32_t number = 0;
    for (const NamedAgent& agent : options.agents)
        hosts_.push_back(
            std::make_unique<Host>(agent.name, MachineId{number++}, agent.connect, surroundings_));
}

Hosts::~Hosts() {
    for (const auto& host : hosts_)
        host->close();
    const uint64_t end_ns = read_clock(CLOCK_MONOTONIC) + count_ns(longest_end);
    const auto closed = [](const auto& host) {
        host->collect();
        return host->closed();
    };
    while (!std::ranges::all_of(hosts_, closed) && read_clock(CLOCK_MONOTONIC) < end_ns)
        ::poll(nullptr, 0, 5);
}

Result<void> Hosts::begin() {
    const uint64_t begin_ns = clock_();
    const auto tried = [](const auto& host) { return host->tried(); };
    const auto has_time = [&] {
        return clock_() - begin_ns < count_ns(live().empty() ? longest_without_any : longest_begin);
    };
    work();
    while (!std::ranges::all_of(hosts_, tried) && has_time() && (!go_on_ || go_on_()))
        wait_until(clock_() + look_ns, -1);
    if (!live().empty())
        return {};
    std::string cause;
    for (const auto& host : hosts_)
        cause += fmt::format("{}{}: {}", cause.empty() ? "" : "; ", host->name(),
                             host->cause().empty() ? "it does not answer" : host->cause());
    return Error{"observe", hosts_.size() == 1 ? "" : "hosts", cause,
                 "`ssh HOST sudo -n auger --agent </dev/null` has to work without a question",
                 Error::Kind::unsupported};
}

std::vector<HostReport> Hosts::reports() const {
    std::vector<HostReport> reports;
    for (const auto& host : hosts_) {
        reports.push_back(host->report(clock_()));
        std::ranges::move(host->relayed_reports(), std::back_inserter(reports));
    }
    return reports;
}

std::vector<Host*> Hosts::live() const {
    std::vector<Host*> live;
    for (const auto& host : hosts_)
        if (host->live())
            live.push_back(host.get());
    return live;
}

void Hosts::work() {
    looked_ns_ = clock_();
    size_t starting = 0;
    for (const auto& host : hosts_)
        starting += host->waits_for_hello();
    for (const auto& host : hosts_) {
        const bool waited = host->waits_for_hello();
        host->work(looked_ns_, starting < most_starting_);
        starting += host->waits_for_hello();
        starting -= waited;
    }
}

bool Hosts::wait_until(uint64_t time_ns, int wake_fd) {
    const uint64_t now = clock_();
    std::vector<pollfd> waiting{{wake_fd, POLLIN, 0}};
    std::vector<size_t> ends; // of each host's
    for (const auto& host : hosts_) {
        host->add_descriptors(waiting, now);
        ends.push_back(waiting.size());
    }
    const uint64_t left = time_ns - std::min(time_ns, now);
    const timespec timeout = {static_cast<time_t>(left / second_ns),
                              static_cast<long>(left % second_ns)};
    ::ppoll(waiting.data(), waiting.size(), &timeout, nullptr);
    const bool woken = waiting.front().revents != 0;
    // Now and then all of them, since silence counts, too; else a thousand would be looked at
    // whenever one speaks.
    const uint64_t then = clock_();
    if (then - std::min(then, looked_ns_) >= look_ns) {
        work();
        return woken;
    }
    const auto something = [](const pollfd& one) { return one.revents != 0; };
    size_t begin = 1;
    for (size_t host = 0; host < hosts_.size(); begin = ends[host++])
        if (std::any_of(waiting.begin() + static_cast<ptrdiff_t>(begin),
                        waiting.begin() + static_cast<ptrdiff_t>(ends[host]), something))
            hosts_[host]->work(then, false);
    return woken;
}

Hosts::Answers Hosts::ask(const std::vector<Host*>& hosts, const Request& request,
                          Patience patience, Unanswered unanswered) {
    struct Asked {
        Host* host;
        size_t agent; // its n-th
        uint64_t number;
    };
    std::vector<Asked> asked;
    for (Host* host : hosts)
        asked.push_back({host, host->agents(), host->ask(request)});
    uint64_t end_ns = clock_() + count_ns(patience.longest);
    Answers answers;
    work();
    for (;;) {
        std::erase_if(asked, [&](const Asked& one) {
            // Lost, and perhaps begun anew: then it was given what is in force.
            if (!one.host->observes() || one.host->agents() != one.agent)
                return true;
            auto answer = one.host->take_answer(one.number);
            if (!answer)
                return false;
            if (answers.empty())
                end_ns = std::min(end_ns, clock_() + count_ns(patience.behind_first));
            answers.emplace(one.host, std::move(*answer));
            return true;
        });
        const uint64_t now = clock_();
        const bool over = now >= end_ns || (go_on_ && !go_on_());
        for (const Asked& one : asked) {
            if (!over && one.host->live())
                continue;
            if (unanswered == Unanswered::forgotten)
                one.host->forget(one.number);
            else if (one.host->live() && !answers.empty())
                one.host->follow(one.number, request);
            else
                one.host->lose("it did not answer in time", now);
        }
        if (over)
            return answers;
        std::erase_if(asked, [](const Asked& one) { return !one.host->live(); });
        if (asked.empty())
            return answers;
        wait_until(std::min(end_ns, now + look_ns), -1);
    }
}

size_t Hosts::deliver_until(uint64_t until_ns, const std::function<bool()>& go_on) {
    size_t steps = 0;
    bool more = true;
    const auto count = [&] {
        steps++;
        more = go_on();
        return more;
    };
    const uint64_t now = clock_();
    // Whose turn is when; the earliest is in front, and of several the first host.
    std::vector<std::pair<uint64_t, size_t>> turns;
    const auto add_turn = [&](size_t host) {
        const auto time = hosts_[host]->next_ns(now);
        if (!time || *time > until_ns)
            return;
        turns.emplace_back(*time, host);
        std::ranges::push_heap(turns, std::greater());
    };
    for (size_t host = 0; host < hosts_.size(); host++)
        add_turn(host);
    // One after the other, each up to where the next one goes on.
    while (more && !turns.empty()) {
        std::ranges::pop_heap(turns, std::greater());
        const size_t host = turns.back().second;
        turns.pop_back();
        const size_t before = steps;
        hosts_[host]->deliver(turns.empty() ? until_ns : turns.front().first, count, now);
        if (steps != before) // else its stream makes no sense
            add_turn(host);
    }
    if (more && until_ns > told_time_ns_) {
        told_time_ns_ = until_ns;
        sink_.on_time(until_ns);
    }
    return steps;
}

size_t Hosts::deliver(const TimeSlice& slice) {
    const uint64_t now = clock_();
    uint64_t until = now;
    for (const auto& host : hosts_)
        if (host->waited_for(now))
            until = std::min(until, host->until_ns());
    return deliver_until(until, [&] { return !slice.over(); });
}

void Hosts::catch_up() {
    uint64_t until = 0;
    for (const auto& host : hosts_)
        until = std::max(until, host->until_ns());
    until = std::min(until, clock_());
    const uint64_t end_ns = clock_() + count_ns(silent_is_stale);
    const auto there = [&](const auto& host) {
        return !host->waited_for(clock_()) || host->until_ns() >= until;
    };
    while (!std::ranges::all_of(hosts_, there) && clock_() < end_ns && (!go_on_ || go_on_()))
        wait_until(clock_() + look_ns, -1);
    deliver_until(until, [] { return true; });
}

} // namespace auger::remote
