// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/endpoint.h"

#include "loader/base/read_clock.h"
#include "repl/services/client_counts.h"
#include "repl/services/endpoint_answer.h"
#include "repl/services/waiting.h"
#include "views/escape.h"
#include "views/format.h"
#include "views/json/json_views.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace auger {
namespace {

using Kind = EndpointRequest::Kind;
using std::chrono::steady_clock;

// Each writer is a copy of this process: how many there are at once, and between the beginnings of
// two, bounds what requests can take of the machine.
constexpr size_t writers = 2;
constexpr std::chrono::milliseconds writing_interval{50};
constexpr size_t most_jobs = 64; // of all addresses together; each holds some memory
// Between two events, of the same machine's time: that of a recording may stand still.
constexpr std::chrono::seconds event_interval{1};

} // namespace

Endpoint::~Endpoint() {
    jobs_.clear();
}

Result<void> Endpoint::listen_at(const std::vector<ServedAddress>& addresses) {
    auto set = places_.set(addresses, first_process(), [this](const HttpServer& server) {
        std::erase_if(jobs_, [&](const Job& job) { return job.server == &server; });
    });
    if (set)
        share_sampling(backend_.now_ns());
    return set;
}

pid_t Endpoint::first_process() const {
    const TargetStatus status = backend_.target_status();
    return status.processes.empty() ? getpid() : status.processes.front().pid;
}

ClientsStatus Endpoint::clients() const {
    ClientsStatus status;
    status.served = places_.served();
    put_counts(places_.counts(), status);
    status.sampled_ns = sampled_ns_;
    status.cpu_ns = cpu_ns_;
    return status;
}

void Endpoint::add_wake_fds(std::vector<int>& fds) const {
    for (const ServedPlace& place : places_)
        fds.push_back(place.server().wake_fd());
    for (const Job& job : jobs_)
        if (job.task)
            fds.push_back(job.task->wake_fd());
}

uint64_t Endpoint::due_ns() const {
    uint64_t due = places_.empty() ? UINT64_MAX : next_expiry_ns_;
    const uint64_t now = backend_.now_ns();
    for (const Job& job : jobs_) {
        if (!job.task)
            due = std::min(due, std::max(job.end_ns, now + retry_interval_ns));
    }
    return due;
}

void Endpoint::work() {
    if (places_.empty())
        return;
    const uint64_t now = backend_.now_ns();
    for (const ServedPlace& place : places_) {
        for (const HttpRequest& request : place.server().take())
            take_request(place.server(), request, now);
        if (now >= next_expiry_ns_)
            place.server().expire();
    }
    if (now >= next_expiry_ns_)
        next_expiry_ns_ = now + second_ns;
    tell_of_news();
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

// What is new they see from the figures. Also where nothing is: so clients that have gone are
// noticed.
void Endpoint::tell_of_news() {
    const auto now = steady_clock::now();
    if (now < next_event_ || !places_.watched())
        return;
    next_event_ = now + event_interval;
    places_.publish("data: " + summary_json(model_, source_.window(), backend_.target_status()) +
                    "\n\n");
}

void Endpoint::take_request(HttpServer& server, const HttpRequest& request, uint64_t now_ns) {
    auto read = read_request(request);
    if (auto* refusal = std::get_if<HttpAnswer>(&read))
        return server.answer(request.id, std::move(*refusal));
    Job job{&server, request.id, std::move(std::get<EndpointRequest>(read))};
    if (job.request.kind == Kind::index)
        return server.answer(request.id, {200, endpoint_index()});
    if (auto refusal = objection(job.request)) {
        refusal->text = escape_untrusted(refusal->text) + "\n";
        return server.answer(request.id, std::move(*refusal));
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
    const ClassFilter& filter =
        request.kind == Kind::diff ? ClassFilter(CallClass::slow) : request.selection.filter;
    if (auto lacking = lacking_part(model_, filter))
        return HttpAnswer{400, lacking->message()};
    if (request.probe && !model_.find_probe(*request.probe))
        return HttpAnswer{404, "there is no such probe: `probes` lists them"};
    if (request.duration_ns == 0)
        return std::nullopt;
    if (backend_.replaying())
        return HttpAnswer{409, "a recording cannot be sampled: /flame.html shows it"};
    if (backend_.target_status().spec.kind == TargetSpec::Kind::none)
        return HttpAnswer{409, "nothing is observed: auger has no target"};
    if (request.selection.filter.process)
        if (auto refusal = objection_to(*request.selection.filter.process))
            return refusal;
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

// An answer without samples would say that the process has not run. Who may ask sees the whole
// target, so it is told of what it is no part.
std::optional<HttpAnswer> Endpoint::objection_to(uint32_t process) const {
    if (!backend_.hosts().empty())
        return HttpAnswer{409, "other machines are observed, and pid is a process of this one"};
    const TargetStatus target = backend_.target_status();
    const auto is_it = [&](const TargetStatus::Process& one) {
        return one.running && static_cast<uint32_t>(one.pid) == process;
    };
    // Of a whole machine not all are known by name.
    const bool is_observed = target.spec.kind == TargetSpec::Kind::all
                                 ? process != static_cast<uint32_t>(getpid())
                                 : std::ranges::any_of(target.processes, is_it);
    if (is_observed)
        return std::nullopt;
    return HttpAnswer{
        409, fmt::format("process {} is not observed: it is not of the target's", process)};
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
    const bool goes_on = sampling_since_ns_ != 0;
    if (goes_on)
        sampled_ns_ += now_ns - sampling_since_ns_;
    auto set = sampling_.set_demand(demand);
    // Loading the programs for it takes some of the time.
    const uint64_t in_force_ns = backend_.now_ns();
    sampling_since_ns_ = !sampling_.is_for_others() ? 0 : goes_on ? now_ns : in_force_ns;
    if (set) {
        for (Job& job : jobs_) {
            if (!samples_now(job, now_ns))
                continue;
            job.sampling = sampling_.in_force();
            if (job.begin_ns == now_ns) { // has just come
                job.begin_ns = in_force_ns;
                job.end_ns = in_force_ns + job.request.duration_ns;
            }
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
    return now_ns >= job.end_ns && has_all_before(backend_, model_, job.end_ns);
}

Result<void> Endpoint::start_writing(Job& job) {
    const EndpointRequest& request = job.request;
    ExportQuery query{request.selection, request.window.value_or(source_.window())};
    if (job.end_ns != 0)
        query.window = {Window::Kind::last, request.duration_ns, job.end_ns};
    query.lost_before = job.lost_before;
    query.threads = request.threads;
    if (request.kind == Kind::samples)
        query.every_ns = request.interval_ns;
    if (request.kind == Kind::metrics)
        query.shipping = source_.status().shipping;
    auto task = start_answer(model_, request,
                             {std::move(query), job.sampling,
                              request.kind == Kind::status ? source_.status() : StatusContext{}});
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
    job.server->answer(job.id, answer_of(job.request, std::move(*file)));
    return true;
}

void Endpoint::refuse(const Job& job, unsigned status, const std::string& text) {
    job.server->answer(job.id, HttpAnswer{status, escape_untrusted(text) + "\n"});
}

} // namespace auger
