// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/endpoint.h"

#include "loader/process/proc_info.h"
#include "views/escape.h"
#include "views/exports/file_sink.h"
#include "views/exports/flame_html.h"
#include "views/exports/perf_script.h"
#include "views/exports/pprof.h"
#include "views/exports/prometheus.h"
#include "views/format.h"
#include "views/json/json_views.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace auger {
namespace {

using Kind = EndpointRequest::Kind;
using std::chrono::steady_clock;

constexpr uint64_t second_ns = 1'000'000'000;
// How long names, and events that are late, are waited for once the time is over.
constexpr uint64_t patience_ns = 5 * second_ns;
constexpr uint64_t look_interval_ns = 20'000'000;
// Each writer is a copy of this process: how many there are at once, and between the beginnings of
// two, bounds what requests can take of the machine.
constexpr size_t writers = 2;
constexpr std::chrono::milliseconds writing_interval{50};
constexpr size_t most_jobs = 64; // of all addresses together; each holds some memory
constexpr ForkedLimits answer_limits{.file_bytes = uint64_t{512} << 20, .cpu_seconds = 60};

const char* type_of(Kind kind) {
    switch (kind) {
    case Kind::profile:
        return "application/octet-stream";
    case Kind::flame:
        return "text/html; charset=utf-8";
    case Kind::metrics:
        return "text/plain; version=0.0.4; charset=utf-8";
    case Kind::status:
        return "application/json";
    default:
        return "text/plain; charset=utf-8";
    }
}

// How the samples came about, for who reads them.
std::string sampling_lines(const EndpointRequest& request, const SamplingSettings& sampling) {
    std::string text =
        fmt::format("# auger: {} of {}, a sample of each thread every {}\n",
                    format_duration(static_cast<double>(request.duration_ns)),
                    sampling.wall ? "wall-clock time (waits when they end)" : "CPU time",
                    format_duration(static_cast<double>(request.interval_ns)));
    const uint64_t rate = std::max(sampling.rate_hz, sampling.raised_hz);
    if (rate != 0 && second_ns / rate > request.interval_ns)
        text += fmt::format("# the session samples at {} Hz, which is less\n", rate);
    return text;
}

Result<AccessToken> token_of(const ServedAddress& asked) {
    return asked.token_file.empty() ? AccessToken::random()
                                    : AccessToken::of_file(asked.token_file);
}

void add_counts(HttpCounts& to, const HttpCounts& counts) {
    for (const auto& [code, count] : counts.answers)
        to.answers[code] += count;
    to.not_admitted += counts.not_admitted;
}

// Why requests were refused, by the answer's status.
std::string cause_of(unsigned code) {
    switch (code) {
    case 401:
        return "no token";
    case 403:
        return "other host or origin";
    case 409:
        return "not possible";
    case 413:
        return "too large";
    case 500:
        return "failed";
    case 503:
        return "too many";
    default:
        return "wrong request";
    }
}

} // namespace

Endpoint::~Endpoint() {
    jobs_.clear();
}

Result<void> Endpoint::listen_at(const std::vector<ServedAddress>& addresses) {
    std::list<Place> fresh;
    std::vector<std::pair<Place*, AccessToken>> tokens;
    for (const ServedAddress& asked : addresses) {
        const auto known = std::ranges::find_if(
            places_, [&](const Place& place) { return place.asked.address == asked.address; });
        if (known == places_.end()) {
            auto place = listen_at(asked);
            if (!place)
                return place.error();
            fresh.push_back(std::move(*place));
        } else if (known->asked != asked && known->token) {
            auto token = token_of(asked);
            if (!token)
                return token.error();
            tokens.emplace_back(&*known, std::move(*token));
        }
    }
    // Nothing fails from here on.
    for (auto& [place, token] : tokens) {
        place->token->set(std::move(token));
        place->asked = *std::ranges::find(addresses, place->asked.address, &ServedAddress::address);
    }
    const auto unwanted = [&](const Place& place) {
        return std::ranges::find(addresses, place.asked.address, &ServedAddress::address) ==
               addresses.end();
    };
    for (const Place& place : places_) {
        if (unwanted(place))
            close(place);
    }
    std::erase_if(places_, unwanted);
    places_.splice(places_.end(), fresh);
    served_ |= !places_.empty();
    share_sampling(backend_.now_ns());
    return {};
}

void Endpoint::close(const Place& place) {
    std::erase_if(jobs_, [&](const Job& job) { return job.server == place.server.get(); });
    add_counts(closed_counts_, place.server->counts());
}

Result<Endpoint::Place> Endpoint::listen_at(const ServedAddress& asked) const {
    constexpr std::string_view variable = "{PID}";
    std::string text = asked.address;
    const TargetStatus status = backend_.target_status();
    const pid_t pid = status.processes.empty() ? getpid() : status.processes.front().pid;
    for (size_t at = text.find(variable); at != std::string::npos; at = text.find(variable, at))
        text.replace(at, variable.size(), std::to_string(pid));
    auto parsed = parse_listen_address(text);
    if (!parsed)
        return parsed.error();
    auto socket = ListenSocket::open(*parsed);
    if (!socket)
        return socket.error();
    std::unique_ptr<PortToken> token;
    HttpServer::Admit admit;
    if (parsed->kind == ListenAddress::Kind::unix_socket) {
        // The file's mode keeps others out already, but its owner, or a mistake, may change that.
        admit = [users = our_users()](int connection) {
            const auto user = peer_user(connection);
            return user && std::ranges::count(users, *user) > 0;
        };
    } else {
        auto text = token_of(asked);
        if (!text)
            return text.error();
        token = std::make_unique<PortToken>(std::move(*text));
    }
    auto check = [token = token.get()](const HttpRequest& request) -> std::optional<HttpAnswer> {
        if (token && !knows(request, token->get()))
            return without_token();
        auto read = read_request(request);
        if (auto* refusal = std::get_if<HttpAnswer>(&read))
            return std::move(*refusal);
        return std::nullopt;
    };
    auto server = HttpServer::start(socket->fd(), check, {}, std::move(admit));
    if (!server)
        return server.error();
    return Place{asked, std::move(*socket), std::move(token), std::move(*server)};
}

// A token that is kept in a file is not shown: what auger prints may go to a log.
std::string Endpoint::url_of(const Place& place) {
    if (!place.token)
        return place.socket.text();
    const std::string url = fmt::format("http://{}/", place.socket.text());
    return place.asked.token_file.empty() ? url + "?token=" + place.token->get().text() : url;
}

std::vector<std::string> Endpoint::listening(const std::string& address) const {
    std::vector<std::string> texts;
    for (const Place& place : places_)
        if (address.empty() || place.asked.address == address)
            texts.push_back(url_of(place));
    return texts;
}

ClientsStatus Endpoint::clients() const {
    HttpCounts counts = closed_counts_;
    for (const Place& place : places_)
        add_counts(counts, place.server->counts());
    ClientsStatus status;
    status.served = served_;
    for (const auto& [code, count] : counts.answers) {
        if (code < 400)
            status.answered += count;
        else
            status.refused[cause_of(code)] += count;
    }
    if (counts.not_admitted)
        status.refused["other user"] = counts.not_admitted;
    status.sampled_ns = sampled_ns_;
    status.cpu_ns = cpu_ns_;
    return status;
}

void Endpoint::add_wake_fds(std::vector<int>& fds) const {
    for (const Place& place : places_)
        fds.push_back(place.server->wake_fd());
    for (const Job& job : jobs_)
        if (job.task)
            fds.push_back(job.task->wake_fd());
}

uint64_t Endpoint::due_ns() const {
    uint64_t due = places_.empty() ? UINT64_MAX : next_expiry_ns_;
    const uint64_t now = backend_.now_ns();
    for (const Job& job : jobs_) {
        if (!job.task)
            due = std::min(due, std::max(job.end_ns, now + look_interval_ns));
    }
    return due;
}

void Endpoint::work() {
    if (places_.empty())
        return;
    const uint64_t now = backend_.now_ns();
    for (Place& place : places_) {
        take_requests(place, now);
        if (now >= next_expiry_ns_)
            place.server->expire();
    }
    if (now >= next_expiry_ns_)
        next_expiry_ns_ = now + second_ns;
    share_sampling(now);
    size_t writing = std::ranges::count_if(jobs_, [](const Job& job) { return !!job.task; });
    bool may_write = steady_clock::now() >= next_writing_;
    for (auto job = jobs_.begin(); job != jobs_.end();) {
        if (!job->task && writing < writers && may_write && complete(*job, now)) {
            next_writing_ = steady_clock::now() + writing_interval;
            may_write = false;
            if (auto started = start_writing(*job); !started) {
                refuse(*job, 500, started.error().message());
                job = jobs_.erase(job);
                continue;
            }
            writing++;
        }
        job = job->task && finish(*job) ? jobs_.erase(job) : std::next(job);
    }
}

void Endpoint::take_requests(Place& place, uint64_t now_ns) {
    for (const HttpRequest& request : place.server->take())
        take_request(place, request, now_ns);
}

void Endpoint::take_request(Place& place, const HttpRequest& request, uint64_t now_ns) {
    auto read = read_request(request);
    if (auto* refusal = std::get_if<HttpAnswer>(&read))
        return place.server->answer(request.id, std::move(*refusal));
    Job job{place.server.get(), request.id, std::move(std::get<EndpointRequest>(read))};
    if (job.request.kind == Kind::index) {
        const auto token = place.token ? std::optional(place.token->get()) : std::nullopt;
        return place.server->answer(request.id, index_answer(request, token ? &*token : nullptr));
    }
    if (auto refusal = objection(job.request)) {
        refusal->text = escape_untrusted(refusal->text) + "\n";
        return place.server->answer(request.id, std::move(*refusal));
    }
    if (job.request.duration_ns != 0) {
        job.lost_before = model_.ledger().lost;
        job.begin_ns = now_ns;
        job.end_ns = now_ns + job.request.duration_ns;
    }
    jobs_.push_back(std::move(job));
}

std::optional<HttpAnswer> Endpoint::objection(const EndpointRequest& request) const {
    if (jobs_.size() >= most_jobs) {
        HttpAnswer busy{503, "too many requests wait already: try again later"};
        busy.headers.emplace_back("Retry-After", "5");
        return busy;
    }
    if (auto lacking = lacking_part(model_, request.selection.filter))
        return HttpAnswer{400, lacking->message()};
    if (request.duration_ns == 0)
        return std::nullopt;
    if (backend_.replaying())
        return HttpAnswer{409, "a recording cannot be sampled: /flame.html shows it"};
    if (backend_.target_status().spec.kind == TargetSpec::Kind::none)
        return HttpAnswer{409, "nothing is observed: auger has no target"};
    // 1 ms is as good as what 999 Hz give.
    const uint64_t shortest_ns =
        second_ns / (std::max(client_rate_hz, sampling_.user_rate_hz()) + 1);
    if (request.interval_ns < shortest_ns)
        return HttpAnswer{
            400, fmt::format("timeInterval is at least {} here: clients have the target sampled at "
                             "{} Hz at most, or as fast as the session samples by itself",
                             format_duration(static_cast<double>(shortest_ns)), client_rate_hz)};
    return std::nullopt;
}

bool Endpoint::samples_now(const Job& job, uint64_t now_ns) const {
    return job.end_ns != 0 && !job.task && now_ns < job.end_ns;
}

// Wall-clock time, as for the live view: who asks for stacks of threads means those that wait, too.
// Of a whole machine those would be too many. Go's profile is of the CPU.
// A clock of just the client's interval keeps step with programs that work in rounds of it (10 ms
// are usual), and sees one moment of each round only. So it is sampled more often where that may
// be, and the client gets the samples at random moments (ExportQuery::every_ns).
SamplingSettings Endpoint::demand_of(const Job& job) const {
    constexpr uint64_t to_choose_from = 10;
    SamplingSettings demand;
    demand.rate_hz = static_cast<uint32_t>(std::clamp<uint64_t>(
        to_choose_from * second_ns / job.request.interval_ns, 1, client_rate_hz));
    demand.wall = job.request.kind == Kind::samples &&
                  backend_.target_status().spec.kind != TargetSpec::Kind::all;
    return demand;
}

void Endpoint::share_sampling(uint64_t now_ns) {
    SamplingSettings demand;
    for (const Job& job : jobs_) {
        if (!samples_now(job, now_ns))
            continue;
        const SamplingSettings one = demand_of(job);
        demand.rate_hz = std::max(demand.rate_hz, one.rate_hz);
        demand.wall |= one.wall;
    }
    if (sampling_since_ns_ != 0)
        sampled_ns_ += now_ns - sampling_since_ns_;
    auto set = sampling_.set_demand(demand);
    sampling_since_ns_ = sampling_.is_for_others() ? now_ns : 0;
    if (set) {
        for (Job& job : jobs_) {
            if (samples_now(job, now_ns))
                job.sampling = sampling_.in_force();
        }
        return;
    }
    for (auto job = jobs_.begin(); job != jobs_.end();) {
        if (samples_now(*job, now_ns)) {
            refuse(*job, 500, set.error().message());
            job = jobs_.erase(job);
        } else {
            ++job;
        }
    }
}

bool Endpoint::complete(const Job& job, uint64_t now_ns) const {
    if (job.end_ns == 0)
        return true;
    if (now_ns < job.end_ns)
        return false;
    const bool patient = now_ns < job.end_ns + patience_ns;
    return !patient || (model_.now_ns() > job.end_ns && backend_.symbol_progress().pending == 0);
}

Result<void> Endpoint::start_writing(Job& job) {
    const EndpointRequest& request = job.request;
    ExportQuery query{request.selection, request.window.value_or(source_.window())};
    if (job.end_ns != 0)
        query.window = {Window::Kind::last, request.duration_ns, job.end_ns};
    query.lost_before = job.lost_before;
    if (request.kind == Kind::samples)
        query.every_ns = request.interval_ns;
    const std::string lines =
        request.kind == Kind::samples ? sampling_lines(request, job.sampling) : "";
    const StatusContext status = request.kind == Kind::status ? source_.status() : StatusContext{};
    auto task = ForkedTask::start(
        "auger-answer",
        [&](int out) -> Result<void> {
            FileSink sink(out);
            Result<uint64_t> written = 0;
            switch (request.kind) {
            case Kind::samples:
                sink.write(lines);
                written = write_perf_script(model_, query, sink);
                break;
            case Kind::profile:
                written = write_pprof(model_, query, sink);
                break;
            case Kind::flame:
                written = write_flame_html(model_, query, sink);
                break;
            case Kind::metrics:
                written = write_prometheus(model_, query, sink);
                break;
            case Kind::status:
                sink.write(status_json(model_, status) + "\n");
                break;
            case Kind::index:
                break;
            }
            if (!written)
                return written.error();
            return sink.finish("answer");
        },
        answer_limits);
    if (!task)
        return task.error();
    job.task.emplace(std::move(*task));
    return {};
}

bool Endpoint::finish(Job& job) {
    if (!job.task->ended())
        return false;
    auto file = job.task->take();
    cpu_ns_ += job.task->cpu_ns();
    if (!file) {
        refuse(job, 500, file.error().message());
        return true;
    }
    HttpAnswer answer;
    answer.file = std::move(*file);
    answer.type = type_of(job.request.kind);
    if (job.request.kind == Kind::profile)
        answer.headers.emplace_back("Content-Disposition", "attachment; filename=\"profile\"");
    job.server->answer(job.id, std::move(answer));
    return true;
}

void Endpoint::refuse(const Job& job, unsigned status, const std::string& text) {
    job.server->answer(job.id, HttpAnswer{status, escape_untrusted(text) + "\n"});
}

} // namespace auger
