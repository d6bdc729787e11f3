// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/host.h"

#include "loader/base/read_clock.h"
#include "loader/remote/agent_output.h"
#include "loader/remote/probes_of.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace auger::remote {

namespace {

constexpr uint64_t stale_ns = uint64_t{silent_is_stale.count()} * second_ns,
                   lost_ns = uint64_t{silent_is_lost.count()} * second_ns;
// ssh gives up who cannot be reached after 10 s (ConnectTimeout); a login by a link of 200 ms that
// loses packets, to a busy machine, takes longer than that.
constexpr uint64_t longest_login_ns = 30 * second_ns;
constexpr uint64_t first_pause_ns = second_ns, longest_pause_ns = 30 * second_ns;
constexpr uint64_t ping_interval_ns = second_ns;
constexpr size_t most_complaints = 4 << 10;
// Of a stream that waits for others; beyond it the pipe fills, which the agent notices.
constexpr size_t most_held = 16 << 20;
// Nothing is delivered while an answer is waited for, and it comes behind all that the agent has
// to say before it.
constexpr size_t most_held_before_answer = most_held + AgentOutput::most_bytes;
constexpr size_t most_read_at_once = 1 << 20;
// Of one agent, for as long as it is there: names, locations.
constexpr size_t most_definition_bytes = size_t{512} << 20;

} // namespace

Host::Host(std::string name, MachineId id, ConnectAgent connect,
           const HostSurroundings& surroundings)
    : name_(std::move(name)), id_(id), connect_(std::move(connect)), surroundings_(surroundings),
      recording_(name_, surroundings.alone) {}

Host::~Host() = default;

HostReport Host::report(uint64_t now_ns) const {
    HostReport report;
    report.name = name_;
    report.state = state_;
    report.cause = state_ == State::lost ? cause_ : "";
    report.received_bytes = received_bytes_;
    report.bytes_per_second = bytes_per_second_;
    report.times_lost = times_lost_;
    if (!link_)
        return report;
    if (const auto& hello = link_->hello()) {
        report.program = hello->program;
        report.machine = hello->machine.name;
    }
    report.silent_ns = now_ns - std::min(now_ns, heard_ns_);
    report.clock_error_ns = link_->clock().error_ns();
    report.round_trip_ns = link_->clock().round_trip_ns();
    report.lost_samples = link_->state().lost_samples;
    // But for those that were deleted since.
    for (const auto& [unused, probe] : surroundings_.settings.probes)
        if (const auto lacking = lacking_.find(probe.number); lacking != lacking_.end())
            report.lacks.push_back(lacking->second.text);
    report.processes = static_cast<size_t>(
        std::ranges::count(link_->state().target.processes, true, &TargetStatus::Process::running));
    return report;
}

std::vector<HostReport> Host::relayed_reports() const {
    std::vector<HostReport> reports;
    if (!link_)
        return reports;
    reports = link_->hosts();
    for (HostReport& report : reports) {
        report.name = name_ + "/" + report.name;
        report.clock_error_ns += link_->clock().error_ns();
        report.round_trip_ns += link_->clock().round_trip_ns();
    }
    return reports;
}

void Host::start(uint64_t now_ns) {
    cause_.clear();
    complaints_.clear();
    auto pipe = connect_();
    if (!pipe) {
        end(pipe.error().message(), now_ns, false);
        return;
    }
    pipe_ = std::move(*pipe);
    agents_++;
    link_ = std::make_unique<AgentLink>(surroundings_.own, surroundings_.open);
    link_->on_origins(
        [this](const Origins& origins) { return stream_ && stream_->take_origins(origins); });
    state_ = State::starting;
    heard_ns_ = now_ns;
    budget_ns_ = rate_ns_ = now_ns;
    rate_bytes_ = received_bytes_;
}

// What its command said last is the better reason.
std::string Host::complaint(const std::string& otherwise) const {
    for (std::string text : {complaints_, link_ ? link_->greeting() : std::string()}) {
        while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
            text.pop_back();
        if (!text.empty())
            return text.substr(text.rfind('\n') + 1);
    }
    return otherwise;
}

void Host::end(const std::string& cause, uint64_t now_ns, bool deliver_rest) {
    if (stream_) {
        // Up to now: what is told of the future would be time that passes.
        if (deliver_rest)
            (void)link_->deliver(recording_.stream(), stream_->own_time(now_ns),
                                 [] { return true; });
        stream_->drop_open_calls(now_ns);
        surroundings_.common.begin_anew(id_.index());
        if (auto finished = recording_.end_agent(); !finished)
            surroundings_.tell(finished.error().message());
    }
    stream_.reset();
    link_.reset();
    given_.clear();
    lacking_.clear();
    const bool followed = std::exchange(follows_, false);
    if (pipe_.process)
        ending_.push_back(std::move(*pipe_.process));
    pipe_ = {};
    for (const LaunchedProcess& process : ending_)
        (void)process.signal(SIGTERM);
    if (state_ == State::live || state_ == State::stale || followed)
        times_lost_++;
    state_ = State::lost;
    cause_ = cause;
    pause_ns_ = std::clamp(2 * pause_ns_, first_pause_ns, longest_pause_ns);
    start_ns_ = now_ns + pause_ns_;
    if (!std::exchange(was_told_, true))
        surroundings_.tell(fmt::format("{}: lost: {}", name_, cause_));
}

void Host::lose(const std::string& cause, uint64_t now_ns) {
    end(cause, now_ns, true);
}

void Host::close() {
    link_.reset();
    if (pipe_.process)
        ending_.push_back(std::move(*pipe_.process));
    pipe_ = {};
    state_ = State::lost;
    start_ns_ = UINT64_MAX;
}

void Host::collect() {
    std::erase_if(ending_, [](LaunchedProcess& process) {
        const auto status = process.exit_status();
        return !status || status->has_value();
    });
}

bool Host::write_out() {
    std::string& out = link_->outgoing();
    while (!out.empty()) {
        const ssize_t written = ::write(pipe_.to.get(), out.data(), out.size());
        if (written > 0)
            out.erase(0, static_cast<size_t>(written));
        else if (written < 0 && errno == EINTR)
            continue;
        else
            return written < 0 && errno == EAGAIN;
    }
    return true;
}

void Host::read_complaints() {
    std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t got =
            pipe_.errors ? ::read(pipe_.errors.get(), buffer.data(), buffer.size()) : -1;
        if (got <= 0) {
            if (got == 0)
                pipe_.errors.reset();
            return;
        }
        complaints_.append(buffer.data(), static_cast<size_t>(got));
        if (complaints_.size() > most_complaints)
            complaints_.erase(0, complaints_.size() - most_complaints);
    }
}

bool Host::holds_enough() const {
    return link_->held_bytes() > (link_->owes_answers() ? most_held_before_answer : most_held);
}

// False: it has ended.
bool Host::read_in(uint64_t now_ns) {
    const uint64_t most = surroundings_.bytes_per_second;
    // As much as a second's at once.
    const uint64_t passed = std::min(now_ns - std::min(now_ns, budget_ns_), second_ns);
    read_budget_ = std::min(most, read_budget_ + most * (passed / 1000) / 1'000'000);
    budget_ns_ = now_ns;
    std::array<char, 1 << 16> buffer;
    for (size_t left = most_read_at_once; left > 0;) {
        const size_t size = std::min<size_t>({buffer.size(), left, read_budget_});
        if (size == 0)
            return true;
        if (holds_enough()) {
            heard_ns_ = now_ns; // who is not listened to is not silent
            return true;
        }
        const ssize_t got = ::read(pipe_.from.get(), buffer.data(), size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return true;
        if (got <= 0) {
            read_complaints();
            end(complaint("its agent has ended"), now_ns, true);
            return false;
        }
        left -= static_cast<size_t>(got);
        read_budget_ -= static_cast<uint64_t>(got);
        received_bytes_ += static_cast<uint64_t>(got);
        // As long as there is no agent, it is a shell that speaks.
        heard_ns_ = now_ns;
        if (auto taken = link_->take({buffer.data(), static_cast<size_t>(got)}, now_ns); !taken) {
            end(taken.error().message(), now_ns, false);
            return false;
        }
    }
    return true;
}

void Host::work(uint64_t now_ns, bool may_start) {
    collect();
    if (!link_) {
        if (may_start && now_ns >= start_ns_ && start_ns_ != UINT64_MAX)
            start(now_ns);
        return;
    }
    read_complaints();
    const bool open = write_out();
    if (!read_in(now_ns))
        return;
    if (!open) {
        end(complaint("its agent has ended"), now_ns, true);
        return;
    }
    if (now_ns - std::min(now_ns, rate_ns_) >= second_ns) {
        bytes_per_second_ = (received_bytes_ - rate_bytes_) * second_ns / (now_ns - rate_ns_);
        rate_bytes_ = received_bytes_;
        rate_ns_ = now_ns;
    }
    if (link_->open() && !stream_ && !surroundings_.edit_under_way)
        join(now_ns);
    if (state_ == State::joining)
        take_given(now_ns);
    if (!link_)
        return;
    if (now_ns - std::min(now_ns, pinged_ns_) >= ping_interval_ns && link_->open()) {
        link_->ping(now_ns);
        pinged_ns_ = now_ns;
    }
    const uint64_t silent = now_ns - std::min(now_ns, heard_ns_);
    if (link_->clock().has_jumped()) // it is compared anew when the agent is
        end("its clock and this machine's have come apart: one of them has slept", now_ns, true);
    else if (silent >= (waits_for_hello() ? longest_login_ns : lost_ns))
        end(complaint(fmt::format("it has said nothing for {} s", silent / second_ns)), now_ns,
            true);
    else if (state_ == State::live && silent >= stale_ns)
        state_ = State::stale;
    else if (state_ == State::stale && silent < stale_ns)
        state_ = State::live;
    if (link_)
        (void)write_out();
}

// Its times are moved by what is measured now, for as long as it is there.
void Host::join(uint64_t now_ns) {
    // Wall clocks are compared by ours, since its times are moved to it.
    const MachineInfo machine{name_, surroundings_.own.machine.boot_ns},
        recorded{name_, link_->hello()->machine.boot_ns};
    const uint64_t earliest =
        now_ns - std::min(now_ns, link_->clock().error_ns() + link_->clock().round_trip_ns());
    stream_ = std::make_unique<MachineStream>(surroundings_.common, id_.index(), id_, machine,
                                              link_->clock().shift_ns(), earliest);
    stream_->deliver_to(surroundings_.sink);
    stream_->tell_machine();
    if (auto begun = recording_.begin_agent(recorded, *stream_, surroundings_.recording,
                                            stream_->own_time(now_ns));
        !begun)
        surroundings_.tell(begun.error().message());
    state_ = State::joining;
    for (const Request& request : surroundings_.settings.requests())
        give(request);
}

Result<void> Host::record_intervals(const IntervalRecording& wanted, uint64_t now_ns) {
    return recording_.record_intervals(wanted, stream_ ? stream_->own_time(now_ns) : 0);
}

void Host::take_back(const Request& backward) {
    given_.back().taken_back = true;
    give(backward);
}

Request Host::adapted(const Request& request) const {
    const std::vector<ProbeId> probes = probes_of(request);
    if (std::ranges::none_of(probes, [this](ProbeId probe) { return lacking_.contains(probe); }))
        return request;
    // What was split or explained before is not any more.
    if (std::holds_alternative<SetSplit>(request))
        return SetSplit{};
    if (std::holds_alternative<SetExplained>(request))
        return SetExplained{};
    return Refresh{}; // which changes nothing
}

// One that is in force when it comes, or that it was long at work on: others have it.
bool Host::may_refuse(const Given& given, const Error& why) {
    if (given.may_be_refused)
        return true;
    const auto* const added = std::get_if<AddProbe>(&given.request);
    if (added && !given.taken_back)
        lacking_.insert_or_assign(added->probe.id, Lacking{added->probe.text, why.message()});
    return std::ranges::any_of(probes_of(given.request),
                               [this](ProbeId probe) { return lacking_.contains(probe); });
}

void Host::tell_what_it_lacks() {
    for (const auto& [probe, lacking] : lacking_)
        if (told_lacking_.insert(probe).second)
            surroundings_.tell(
                fmt::format("{}: goes on without {}: {}", name_, lacking.text, lacking.why));
}

void Host::follow(uint64_t number, const Request& request) {
    given_.push_back({number, request});
    state_ = State::joining;
    if (!std::exchange(follows_, true))
        surroundings_.tell(fmt::format(
            "{}: still working on the edit; the others go on without it until it is done", name_));
}

void Host::take_given(uint64_t now_ns) {
    while (!given_.empty()) {
        const auto answer = link_->take_answer(given_.front().number);
        if (!answer)
            return;
        const Given given = given_.front();
        given_.pop_front();
        if (*answer || may_refuse(given, answer->error()))
            continue;
        if (!given.taken_back) {
            end("it cannot be given the settings in force: " + answer->error().message(), now_ns,
                true);
            return;
        }
        given_.front().may_be_refused = true;
    }
    state_ = State::live;
    pause_ns_ = 0;
    tell_what_it_lacks();
    if (std::exchange(follows_, false))
        surroundings_.tell(fmt::format("{}: done with the edit", name_));
    if (std::exchange(was_told_, false) && begun_)
        surroundings_.tell(fmt::format("{}: observed again", name_));
    begun_ = true;
}

void Host::add_descriptors(std::vector<pollfd>& to, uint64_t now_ns) const {
    if (!link_)
        return;
    // One that may be read no more for now would end the wait at once.
    const bool may_read =
        !holds_enough() && (read_budget_ > 0 || now_ns > budget_ns_ + millisecond_ns);
    to.push_back({pipe_.from.get(), static_cast<short>(may_read ? POLLIN : 0), 0});
    if (!link_->outgoing().empty())
        to.push_back({pipe_.to.get(), POLLOUT, 0});
}

// Also one that speaks, but tells of the past, or goes on telling nothing.
bool Host::waited_for(uint64_t now_ns) const {
    return live() && !link_->state().ended && until_ns() + stale_ns > now_ns;
}

std::optional<uint64_t> Host::next_ns(uint64_t now_ns) {
    if (!stream_)
        return std::nullopt;
    auto next = link_->next_time(recording_.stream());
    if (!next) {
        end(next.error().message(), now_ns, false);
        return std::nullopt;
    }
    if (stream_->definition_bytes() > most_definition_bytes) {
        end("it names more things than can be kept", now_ns, false);
        return std::nullopt;
    }
    return *next ? std::optional(stream_->common_time(**next)) : std::nullopt;
}

void Host::deliver(uint64_t until_ns, const std::function<bool()>& go_on, uint64_t now_ns) {
    const auto delivered = link_->deliver(recording_.stream(), stream_->own_time(until_ns), go_on);
    if (const auto error = recording_.take_error())
        surroundings_.tell(error->message());
    if (!delivered)
        end(delivered.error().message(), now_ns, false);
}

} // namespace auger::remote
