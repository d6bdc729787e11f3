// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/shipper.h"

#include "loader/http/http_messages.h"
#include "loader/process/file_series.h"
#include "loader/process/output_file.h"
#include "loader/process/safe_open.h"
#include "loader/process/state_folder.h"
#include "loader/process/user_rights.h"
#include "repl/services/header_file.h"
#include "views/format.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace auger {
namespace {

using std::chrono::steady_clock;

constexpr uint64_t ns_per_ms = millisecond_ns;
// A process that sends, and is never heard of again, is noticed that soon.
constexpr uint64_t look_ns = second_ns;
// At the end, for what waits.
constexpr std::chrono::seconds farewell{5};

enum class Fate { shipped, refused, waits };

// Servers that have too much to do, or whose own is not there, say so by these; whatever else is
// wrong will be wrong with the next attempt, too. A 200 may be a partial success, which is one.
Fate fate_of(const HttpOutcome& outcome) {
    constexpr std::array<uint32_t, 5> temporary = {0, 429, 502, 503, 504}; // 0: no answer
    if (outcome.status >= 200 && outcome.status < 300)
        return Fate::shipped;
    return std::ranges::find(temporary, outcome.status) != temporary.end() ? Fate::waits
                                                                           : Fate::refused;
}

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

Result<std::string> read_certificates(const std::string& path) {
    constexpr const char* operation = "read certificates from";
    if (path.empty())
        return std::string();
    const auto user = invoking_user();
    const UserRights rights(user);
    auto file = open_regular(path);
    if (!file)
        return Error{operation, path, file.error().cause, rights_hint(user, "read")};
    auto text = read_all(file->get(), http_messages::certificates_limit + 1);
    if (!text)
        return text;
    if (text->size() > http_messages::certificates_limit ||
        text->find("-----BEGIN CERTIFICATE-----") == std::string::npos)
        return Error{operation, path, "it holds no certificates", "PEM is read"};
    return text;
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
      backoff_(static_cast<uint32_t>(clocks_.steady_ns() ^ static_cast<uint64_t>(getpid()))) {
    writer_.on_written(
        [this](const IntervalWriter::Interval&, UniqueFd out) { take_written(std::move(out)); });
}

Result<std::unique_ptr<HttpPoster>> Shipper::connect(const Shipping& shipping) const {
    if (!shipping.header_file.empty())
        if (auto headers = read_header_file(shipping.header_file); !headers)
            return headers.error();
    auto certificates = read_certificates(shipping.certificate_file);
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
    next_ns_ = 0;
    backoff_.reset();
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

ForkedTask::Work Shipper::write(const IntervalWriter::Interval& interval) const {
    const Shipping& shipping = line_->shipping;
    ExportQuery query = interval.query;
    query.threads = shipping.threads;
    // OTLP has a service for each process.
    query.service = shipping.protocol->otlp ? shipping.service : service();
    // Of hosts each thread knows its own.
    if (!backend_.replaying() && backend_.hosts().empty())
        query.host = host_name();
    Spool::Entry entry;
    entry.number = line_->spool.next_number();
    entry.written_ms = clocks_.utc_ns() / ns_per_ms;
    entry.begin_ms = model_.wall_ns(interval.begin_ns).value_or(interval.utc_ns) / ns_per_ms;
    entry.length_ms = (interval.end_ns - interval.begin_ns) / ns_per_ms;
    entry.service = service();
    return [this, query, entry](int out) { return write(query, entry, out); };
}

Result<void> Shipper::write(const ExportQuery& query, Spool::Entry entry, int out) const {
    StringSink body;
    const auto samples = write_request_body(*line_->shipping.protocol, model_, query, body);
    if (!samples)
        return samples.error();
    if (*samples == 0)
        return {}; // nothing to tell
    entry.samples = *samples;
    auto file = OutputFile::create(line_->spool.path_of(entry));
    if (!file)
        return file.error();
    file->write(body.text);
    if (auto written = file->commit(); !written)
        return written;
    const std::string name = line_->spool.name_of(entry);
    if (::write(out, name.data(), name.size()) != static_cast<ssize_t>(name.size()))
        return system_error("tell of", name);
    return {};
}

void Shipper::take_written(UniqueFd out) {
    constexpr size_t longest_name = 256;
    const auto name = read_all(out.get(), longest_name);
    if (!name || name->empty())
        return;
    const auto entry = line_->spool.add(*name);
    if (entry)
        account_.written.add(entry->samples);
    else
        say_once(fmt::format("interval {} is gone from the spool", *name));
}

void Shipper::work() {
    writer_.work();
    if (!line_)
        return;
    trim();
    take_outcome();
    if (!sending_ && !line_->spool.entries().empty() && clocks_.steady_ns() >= next_ns_)
        start_sending();
}

void Shipper::trim() {
    const Shipping& shipping = line_->shipping;
    const auto gone = line_->spool.trim({shipping.bytes, shipping.keep_ns / ns_per_ms},
                                        clocks_.utc_ns() / ns_per_ms,
                                        sending_ ? std::optional(sending_->number) : std::nullopt);
    for (const Spool::Entry& entry : gone)
        account_.given_up.add(entry.samples);
    if (!gone.empty())
        lose(gone.size(), fmt::format("intervals are given up: they have waited for {}, or take "
                                      "more than {}",
                                      format_duration(static_cast<double>(shipping.keep_ns)),
                                      format_bytes(static_cast<double>(shipping.bytes))));
}

void Shipper::start_sending() {
    const Spool::Entry entry = line_->spool.entries().front();
    const Shipping& shipping = line_->shipping;
    auto body = line_->spool.read(entry);
    if (!body) {
        account_.given_up.add(entry.samples);
        lose(1, fmt::format("an interval is given up: {}", body.error().message()));
        (void)line_->spool.remove(entry.number);
        return;
    }
    HttpPost post;
    post.url = request_url(*shipping.protocol, shipping.url, entry);
    post.otlp = shipping.protocol->otlp;
    post.seconds = HttpPost::seconds_for(entry.bytes);
    post.headers.push_back(fmt::format("Content-Type: {}", shipping.protocol->content_type));
    if (shipping.protocol->gzip)
        post.headers.emplace_back("Content-Encoding: gzip");
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
    switch (fate_of(*outcome)) {
    case Fate::waits:
        return wait_again(*outcome);
    case Fate::refused:
        account_.refused.add(entry.samples);
        lose(1, fmt::format("the receiver refuses intervals: {}", text_of(*outcome)));
        break;
    case Fate::shipped:
        account_.shipped.add(entry.samples);
        account_.rejected += outcome->rejected;
        if (outcome->rejected)
            say_once(fmt::format("the receiver left {} out of an interval: {}", outcome->rejected,
                                 outcome->text));
        else if (!account_.problem.empty())
            say_once("the receiver takes intervals again");
        break;
    }
    account_.problem.clear();
    backoff_.reset();
    if (auto removed = line_->spool.remove(entry.number); !removed)
        say_once(removed.error().message());
}

void Shipper::wait_again(const HttpOutcome& outcome) {
    account_.problem = text_of(outcome);
    next_ns_ = clocks_.steady_ns() + backoff_.next_ns(outcome.retry_after_s * second_ns);
    say_once(fmt::format("the receiver takes no intervals now, they wait: {}", account_.problem));
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
    const uint64_t idle = sending_ ? look_ns : next_ns_ - std::min(next_ns_, now);
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
