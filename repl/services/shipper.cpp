// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/shipper.h"

#include "loader/process/file_series.h"
#include "loader/process/output_file.h"
#include "loader/process/safe_open.h"
#include "loader/process/state_folder.h"
#include "loader/process/user_rights.h"
#include "repl/services/certificate_file.h"
#include "repl/services/header_file.h"
#include "repl/services/interval_parts.h"
#include "views/format.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace auger {
namespace {

using std::chrono::steady_clock;

constexpr uint64_t ns_per_ms = millisecond_ns;
// A process that sends, and is never heard of again, is noticed that soon.
constexpr uint64_t look_ns = second_ns;
// Of the files of an interval.
constexpr size_t most_names_bytes = 16 << 20;
// At the end, for what waits.
constexpr std::chrono::seconds farewell{5};

std::string text_of(const HttpOutcome& outcome) {
    if (outcome.status == 0)
        return outcome.text;
    return fmt::format("HTTP {}{}{}", outcome.status, outcome.text.empty() ? "" : ": ",
                       outcome.text);
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Result<Spool> open_spool(const Shipping& shipping) {
    std::string folder = shipping.spool;
    if (folder.empty()) { // one of the receiver's own
        const auto state = state_folder();
        if (!state)
            return state.error();
        const std::string receiver = shipping.url.substr(shipping.url.find("//") + 2);
        folder = fmt::format("{}/ship/{}-{}", *state, shipping.protocol->name,
                             plain_name(receiver, 100, "_"));
    }
    return Spool::open(folder, shipping.protocol->name);
}

} // namespace

Shipper::Shipper(const Backend& backend, const Model& model, Clocks clocks, MakePoster make_poster)
    : backend_(backend), model_(model), clocks_(std::move(clocks)),
      make_poster_(std::move(make_poster)),
      writer_(backend, model, clocks_.utc_ns, {"ship", "spooled", "auger-ship"}),
      attempts_(static_cast<uint32_t>(clocks_.steady_ns() ^ static_cast<uint64_t>(getpid()))) {
    writer_.on_written(
        [this](const IntervalWriter::Interval&, UniqueFd out) { take_written(std::move(out)); });
}

Result<std::unique_ptr<HttpPoster>> Shipper::connect(const Shipping& shipping) const {
    if (!shipping.header_file.empty())
        if (auto headers = read_header_file(shipping.header_file); !headers)
            return headers.error();
    auto certificates = read_certificate_file(shipping.certificate_file);
    if (!certificates)
        return certificates.error();
    return make_poster_(*certificates);
}

Result<void> Shipper::set(const Shipping& shipping) {
    if (!shipping.protocol) {
        writer_.finish();
        tell_what_waits();
        close();
        return {};
    }
    auto poster = connect(shipping);
    if (!poster)
        return poster.error();
    writer_.finish();
    const Shipping before = line_ ? line_->shipping : Shipping();
    auto former_poster = line_ ? std::move(line_->poster) : nullptr;
    // Its spool may be the one that is wanted, and is one user's at a time.
    close();
    auto spool = open_spool(shipping);
    if (spool) {
        begin({shipping, std::move(*spool), std::move(*poster)});
        return {};
    }
    if (before.protocol)
        if (auto again = open_spool(before))
            begin({before, std::move(*again), std::move(former_poster)});
    return spool.error();
}

void Shipper::begin(Line line) {
    line_.emplace(std::move(line));
    account_ = {};
    account_.receiver = fmt::format("{} {}", line_->shipping.protocol->name, line_->shipping.url);
    for (const Spool::Entry& entry : line_->spool.entries())
        account_.found.add(entry.samples);
    attempts_.reset();
    last_said_.clear();
    writer_.set(line_->shipping.every_ns,
                [this](const IntervalWriter::Interval& interval) { return write(interval); });
}

void Shipper::close() {
    sending_.reset();
    line_.reset();
    account_ = {};
}

void Shipper::tell_what_waits() {
    const size_t waiting = line_ ? line_->spool.entries().size() : 0;
    if (waiting != 0)
        news_.push_back(fmt::format("shipping: {} {} in {} for the next time", waiting,
                                    waiting == 1 ? "interval waits" : "intervals wait",
                                    line_->spool.folder()));
}

std::string Shipper::service() const {
    if (!line_->shipping.service.empty())
        return line_->shipping.service;
    const TargetStatus target = backend_.target_status();
    if (target.spec.kind == TargetSpec::Kind::name)
        return target.spec.name;
    return target.processes.empty() ? "auger" : target.processes.front().comm;
}

ForkedTask::Work Shipper::write(const IntervalWriter::Interval& interval) {
    const Shipping& shipping = line_->shipping;
    account_.evicted += interval.query.evicted.value_or(0);
    IntervalWriter::Interval wanted = interval;
    wanted.query.threads = shipping.threads;
    wanted.query.service = shipping.protocol->one_service ? service() : shipping.service;
    // Of hosts each thread knows its own.
    if (!backend_.replaying() && backend_.hosts().empty())
        wanted.query.host = host_name();
    Spool::Entry entry; // the first one's
    entry.number = line_->spool.next_number();
    entry.written_ms = clocks_.utc_ns() / ns_per_ms;
    entry.service = service();
    return [this, wanted, entry](int out) { return write(wanted, entry, out); };
}

Result<void> Shipper::write(const IntervalWriter::Interval& interval, Spool::Entry entry,
                            int out) const {
    std::vector<std::string> paths;
    std::string names;
    // All of them or none: one that is not told of would be sent beside what is said to be lost.
    const auto failed = [&](const Error& error) {
        const UserRights rights(invoking_user());
        for (const std::string& path : paths)
            unlink(path.c_str());
        return error;
    };
    for (const IntervalPart& part :
         interval_parts(*line_->shipping.protocol, model_, interval.query, interval.begin_ns,
                        interval.end_ns)) {
        entry.begin_ms = model_.wall_ns(part.begin_ns)
                             .value_or(interval.utc_ns + part.begin_ns - interval.begin_ns) /
                         ns_per_ms;
        entry.length_ms = (part.end_ns - part.begin_ns) / ns_per_ms;
        entry.samples = part.samples;
        auto file = OutputFile::create(line_->spool.path_of(entry));
        if (!file)
            return failed(file.error());
        file->write(part.body);
        if (auto written = file->commit(); !written)
            return failed(written.error());
        paths.push_back(line_->spool.path_of(entry));
        names += line_->spool.name_of(entry) + '\n';
        entry.number++;
    }
    if (::write(out, names.data(), names.size()) != static_cast<ssize_t>(names.size()))
        return failed(system_error("tell of the files in", line_->spool.folder()));
    return {};
}

void Shipper::take_written(UniqueFd out) {
    const auto names = read_all(out.get(), most_names_bytes);
    std::istringstream lines(names ? *names : std::string());
    for (std::string name; std::getline(lines, name);) {
        const auto entry = line_->spool.add(name);
        if (entry)
            account_.written.add(entry->samples);
        else
            say_once(fmt::format("interval {} is gone from the spool", name));
    }
}

void Shipper::work() {
    writer_.work();
    if (!line_)
        return;
    trim();
    take_outcome();
    if (sending_)
        return;
    if (const Spool::Entry* next = attempts_.next(line_->spool.entries(), clocks_.steady_ns()))
        start_sending(*next);
}

void Shipper::trim() {
    const Shipping& shipping = line_->shipping;
    const auto gone = line_->spool.trim({shipping.bytes, shipping.keep_ns / ns_per_ms},
                                        clocks_.utc_ns() / ns_per_ms,
                                        sending_ ? std::optional(sending_->number) : std::nullopt);
    for (const Spool::Entry& entry : gone) {
        account_.given_up.add(entry.samples);
        attempts_.forget(entry.number);
    }
    if (!gone.empty())
        lose(gone.size(), fmt::format("intervals are given up: they have waited for {}, or take "
                                      "more than {}",
                                      format_duration(static_cast<double>(shipping.keep_ns)),
                                      format_bytes(static_cast<double>(shipping.bytes))));
}

void Shipper::start_sending(const Spool::Entry& entry) {
    const Shipping& shipping = line_->shipping;
    auto body = line_->spool.read(entry);
    if (!body) {
        account_.given_up.add(entry.samples);
        lose(1, fmt::format("an interval is given up: {}", body.error().message()));
        return leave_spool(entry);
    }
    HttpPost post = make_request(*shipping.protocol, shipping.url, entry);
    // Anew each time: tokens are replaced.
    if (!shipping.header_file.empty()) {
        auto headers = read_header_file(shipping.header_file);
        if (!headers)
            return wait_again({.text = headers.error().message()});
        std::ranges::move(*headers, std::back_inserter(post.headers));
    }
    if (auto started = line_->poster->start(post, std::move(*body)); !started)
        return wait_again({.text = started.error().message()});
    sending_ = entry;
}

void Shipper::take_outcome() {
    if (!sending_)
        return;
    const auto outcome = line_->poster->take();
    if (!outcome)
        return;
    const Spool::Entry entry = *std::exchange(sending_, std::nullopt);
    const Shipping& shipping = line_->shipping;
    switch (fate_of(*shipping.protocol, outcome->status, !shipping.header_file.empty())) {
    case Fate::busy:
        return wait_again(*outcome);
    case Fate::doubtful:
        if (!doubt(entry, *outcome))
            return;
        [[fallthrough]];
    case Fate::refused:
        attempts_.answered();
        account_.refused.add(entry.samples);
        lose(1, fmt::format("the receiver refuses intervals: {}", text_of(*outcome)));
        break;
    case Fate::shipped:
        take_shipped(entry, *outcome);
        break;
    }
    account_.problem.clear();
    leave_spool(entry);
}

void Shipper::take_shipped(const Spool::Entry& entry, const HttpOutcome& outcome) {
    account_.shipped.add(entry.samples);
    account_.rejected += outcome.rejected;
    attempts_.taken();
    if (outcome.rejected)
        say_once(fmt::format("the receiver left {} out of an interval: {}", outcome.rejected,
                             outcome.text));
    else if (line_->shipping.protocol->otlp && !outcome.text.empty())
        say_once(fmt::format("the receiver took an interval, and says: {}", outcome.text));
    else if (!account_.problem.empty())
        say_once("the receiver takes intervals again");
}

void Shipper::leave_spool(const Spool::Entry& entry) {
    const uint64_t number = entry.number;
    attempts_.forget(number);
    if (auto removed = line_->spool.remove(number); !removed)
        say_once(removed.error().message());
}

void Shipper::wait_again(const HttpOutcome& outcome) {
    account_.problem = text_of(outcome);
    if (outcome.status == 401 || outcome.status == 403)
        account_.problem +=
            fmt::format(" ({} is read again for each attempt)", line_->shipping.header_file);
    attempts_.busy(clocks_.steady_ns(), outcome.retry_after_s);
    say_once(fmt::format("the receiver takes no intervals now, they wait: {}", account_.problem));
}

bool Shipper::doubt(const Spool::Entry& entry, const HttpOutcome& outcome) {
    const bool is_first = !attempts_.in_doubt(entry.number);
    if (attempts_.doubt(entry.number, clocks_.steady_ns(), outcome.retry_after_s))
        return true;
    if (attempts_.several_fail())
        account_.problem = text_of(outcome);
    if (is_first)
        say_once(fmt::format("the receiver fails to take an interval, which is tried again: {}",
                             text_of(outcome)));
    return false;
}

void Shipper::lose(uint64_t intervals, std::string why) {
    if (lost_ == 0)
        first_loss_ = why;
    lost_ += intervals;
    say_once(std::move(why));
}

void Shipper::say_once(std::string text) {
    if (text != last_said_)
        news_.push_back("shipping: " + text);
    last_said_ = std::move(text);
}

uint64_t Shipper::due_ns() const {
    return writer_.due_ns();
}

void Shipper::add_wake_fds(std::vector<int>& fds) const {
    writer_.add_wake_fds(fds);
    if (sending_)
        fds.push_back(line_->poster->wake_fd());
}

std::chrono::nanoseconds Shipper::idle_time(std::chrono::nanoseconds longest) const {
    if (!line_ || line_->spool.entries().empty())
        return longest;
    const uint64_t now = clocks_.steady_ns();
    const uint64_t due = attempts_.due_ns(line_->spool.entries());
    const uint64_t idle = sending_ ? look_ns : due - std::min(due, now);
    return std::min(longest, std::chrono::nanoseconds(idle));
}

void Shipper::finish(std::span<Shipper* const> shippers) {
    for (Shipper* const shipper : shippers)
        shipper->writer_.finish();
    const auto end = steady_clock::now() + farewell;
    // What is not taken now has a next time.
    while (steady_clock::now() < end && std::ranges::any_of(shippers, &Shipper::is_sending)) {
        std::vector<pollfd> answers;
        for (Shipper* const shipper : shippers) {
            if (shipper->line_ && shipper->account_.problem.empty())
                shipper->work();
            if (shipper->is_sending() && shipper->sending_)
                answers.push_back({shipper->line_->poster->wake_fd(), POLLIN, 0});
        }
        if (std::ranges::any_of(shippers, &Shipper::is_sending))
            poll(answers.data(), answers.size(), 100);
    }
    for (Shipper* const shipper : shippers) {
        shipper->tell_what_waits();
        shipper->close();
    }
}

ShippingStatus Shipper::status() const {
    ShippingStatus status = account_;
    status.unwritten = writer_.failed();
    status.late = writer_.late_samples();
    if (line_) {
        status.bytes = line_->spool.bytes();
        for (const Spool::Entry& entry : line_->spool.entries())
            status.waiting.add(entry.samples);
    }
    return status;
}

std::vector<std::string> Shipper::take_news() {
    std::vector<std::string> news = writer_.take_problems();
    std::ranges::move(std::exchange(news_, {}), std::back_inserter(news));
    return news;
}

Result<void> Shipper::outcome() const {
    if (lost_ != 0)
        return Error{"ship", "intervals", fmt::format("{} were not taken", lost_),
                     "the first: " + first_loss_};
    return writer_.outcome();
}

} // namespace auger
