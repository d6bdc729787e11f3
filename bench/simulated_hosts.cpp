// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/simulated_hosts.h"

#include "bench/simulated_relay.h"
#include "bench/simulated_service.h"
#include "loader/base/read_clock.h"
#include "loader/remote/agent_stream.h"
#include "loader/remote/frames.h"

#include <fmt/format.h>

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>

namespace auger::bench {

namespace {

using namespace remote;

constexpr uint64_t block_interval_ns = 50 * millisecond_ns; // as an agent's
constexpr size_t most_services = 84, most_relays = 4;       // that differ

struct Order {
    uint64_t now_ns;
    bool begin;
};

// What one agent says of its service, or of those of the hosts behind it, a frame every so often.
class AgentFrames {
  public:
    AgentFrames(uint32_t seed, size_t behind, uint64_t begin_ns, ProbeId probe, uint64_t rate_hz)
        : stream_([] { return false; }, behind > 0), begin_ns_(begin_ns) {
        if (behind > 0) {
            relay_ = std::make_unique<SimulatedRelay>(stream_, seed, behind, SimulatedHosts::cpus,
                                                      rate_hz, begin_ns);
            relay_->define(probe);
        } else {
            service_ = std::make_unique<SimulatedService>(stream_, seed, SimulatedHosts::cpus,
                                                          rate_hz, begin_ns);
            service_->define(probe);
        }
    }
    uint64_t until_ns(size_t number) const { return begin_ns_ + (number + 1) * block_interval_ns; }

    struct One {
        std::string bytes;
        uint64_t taken = 0, samples = 0; // before they were folded, and as they are said
    };
    // Asked for in their order, by hosts that are close to each other.
    const One& at(size_t number) {
        while (first_ + frames_.size() <= number)
            frames_.push_back(next(until_ns(first_ + frames_.size())));
        while (frames_.size() > kept) {
            frames_.pop_front();
            first_++;
        }
        return frames_.at(number - first_);
    }

  private:
    static constexpr size_t kept = 4;
    uint64_t taken() const { return relay_ ? relay_->taken_samples() : service_->samples(); }
    uint64_t samples() const { return relay_ ? relay_->samples() : service_->samples(); }
    One next(uint64_t until) {
        const uint64_t taken_before = taken(), before = samples();
        if (relay_)
            relay_->run_until(until);
        else
            service_->run_until(until);
        One one;
        // A relay says little until its second is over.
        while (const auto block = stream_.take_block()) {
            if (relay_)
                put_frame(one.bytes, FrameKind::relayed_block, encoded_relayed_block(*block, true));
            else
                put_frame(one.bytes, FrameKind::block, encoded_block(*block, true));
        }
        one.taken = taken() - taken_before;
        one.samples = samples() - before;
        return one;
    }

    AgentStream stream_;
    std::unique_ptr<SimulatedService> service_; // one of these
    std::unique_ptr<SimulatedRelay> relay_;
    const uint64_t begin_ns_;
    std::deque<One> frames_;
    size_t first_ = 0;
};

// An agent without a backend.
class SimulatedAgent {
  public:
    SimulatedAgent(UniqueFd socket, uint64_t late_ns, bool relays)
        : socket_(std::move(socket)), late_ns_(late_ns) {
        out_ = preamble;
        std::vector<std::string> features;
        if (relays)
            features.emplace_back(feature_relay);
        put_frame(out_, FrameKind::hello, encoded(own_hello("auger simulated", features)));
    }
    int socket() const { return socket_.get(); }
    uint64_t own_ns(uint64_t now_ns) const { return now_ns - late_ns_; }
    std::optional<ProbeId> probe() const { return probe_; }
    uint64_t rate_hz() const { return rate_hz_; } // of samples, that was asked for

    // What the console says.
    void read(uint64_t now_ns) {
        std::array<char, 1 << 14> buffer;
        ssize_t got = 0;
        while ((got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0)
            frames_.add({buffer.data(), static_cast<size_t>(got)});
        for (auto next = frames_.next(); next && *next; next = frames_.next())
            take(**next, now_ns);
    }
    // Returns how many bytes it had to say.
    uint64_t write() {
        uint64_t written = 0;
        while (!out_.empty()) {
            const ssize_t sent =
                ::send(socket_.get(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (sent <= 0)
                break;
            out_.erase(0, static_cast<size_t>(sent));
            written += static_cast<uint64_t>(sent);
        }
        return written;
    }
    // That time passes, while its service is not at work.
    void tell_time(uint64_t now_ns) {
        if (!open_ || own_ns(now_ns) < told_ns_ + block_interval_ns)
            return;
        tell_time_now(now_ns);
    }
    // What its service has done by then.
    void tell_work(AgentFrames& frames, uint64_t now_ns, SimulatedHosts::Said& said) {
        for (; own_ns(now_ns) >= frames.until_ns(next_frame_); next_frame_++) {
            const AgentFrames::One& one = frames.at(next_frame_);
            out_ += one.bytes;
            said.taken += one.taken;
            said.samples += one.samples;
            // Behind the stream up to now.
            out_ += std::exchange(answers_, {});
        }
        working_ = true;
    }

  private:
    void take(const ReceivedFrame& frame, uint64_t now_ns) {
        switch (static_cast<FrameKind>(frame.kind)) {
        case FrameKind::ping:
            put_frame(out_, FrameKind::pong,
                      encoded(Pong{decoded<Ping>(frame.body)->console_ns, own_ns(now_ns)}));
            break;
        case FrameKind::open: {
            HostState state;
            state.target.processes = {{4711, "service", "www-data", true, "", ""}};
            put_frame(out_, FrameKind::state, encoded(state));
            put_frame(out_, FrameKind::answer, encoded_answer(0, encoded(OpenReport{})));
            open_ = true;
            break;
        }
        case FrameKind::request:
            answer(*decoded_request(frame.body), now_ns);
            break;
        default:
            break;
        }
    }
    void answer(const RequestFrame& request, uint64_t now_ns) {
        std::string body;
        if (const auto* add = std::get_if<AddProbe>(&*request.request)) {
            probe_ = add->probe.id;
            ProbeReport report;
            report.places = {{SpecId{0}, "handle", "/usr/sbin/service", 0x1230, "entry+ret", ""}};
            body = encoded(report);
        }
        if (const auto* sampling = std::get_if<SetSampling>(&*request.request))
            rate_hz_ = sampling->sampling.rate_hz;
        if (!working_)
            tell_time_now(now_ns);
        put_frame(working_ ? answers_ : out_, FrameKind::answer,
                  encoded_answer(request.number, std::move(body)));
    }
    void tell_time_now(uint64_t now_ns) {
        told_ns_ = own_ns(now_ns);
        RecordEncoder records;
        records.on_time(told_ns_);
        put_frame(out_, FrameKind::block, encoded_block({told_ns_, records.bytes()}, true));
    }

    UniqueFd socket_;
    const uint64_t late_ns_; // its clock, behind the console's
    FrameReader frames_;
    std::string out_, answers_;
    std::optional<ProbeId> probe_;
    uint64_t rate_hz_ = 0;
    bool open_ = false, working_ = false;
    uint64_t told_ns_ = 0;
    size_t next_frame_ = 0;
};

[[noreturn]] void serve_hosts(std::vector<UniqueFd> sockets, size_t behind, int control) {
    const UniqueFd waiting(::epoll_create1(EPOLL_CLOEXEC));
    std::vector<std::unique_ptr<SimulatedAgent>> agents;
    for (size_t i = 0; i < sockets.size(); i++) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = i;
        ::epoll_ctl(waiting.get(), EPOLL_CTL_ADD, sockets[i].get(), &event);
        // Spread over the time between two blocks.
        agents.push_back(std::make_unique<SimulatedAgent>(
            std::move(sockets[i]), i * 7919 * 1'000'003 % block_interval_ns, behind > 0));
    }
    std::vector<std::unique_ptr<AgentFrames>> services;
    const size_t different = std::min(agents.size(), behind > 0 ? most_relays : most_services);
    std::vector<epoll_event> events(agents.size());
    SimulatedHosts::Said said;
    Order order{};
    while (::recv(control, &order, sizeof order, 0) == sizeof order) {
        const int ready =
            ::epoll_wait(waiting.get(), events.data(), static_cast<int>(events.size()), 0);
        for (int i = 0; i < ready; i++)
            agents[events[static_cast<size_t>(i)].data.u64]->read(order.now_ns);
        if (order.begin)
            for (uint32_t i = 0; i < different; i++)
                services.push_back(std::make_unique<AgentFrames>(
                    i, behind, order.now_ns, agents[i]->probe().value_or(ProbeId{}),
                    agents[i]->rate_hz()));
        for (size_t i = 0; i < agents.size(); i++) {
            if (services.empty())
                agents[i]->tell_time(order.now_ns);
            else
                agents[i]->tell_work(*services[i % services.size()], order.now_ns, said);
            said.bytes += agents[i]->write();
        }
        if (::send(control, &said, sizeof said, MSG_NOSIGNAL) != sizeof said)
            break;
    }
    ::_exit(0);
}

std::runtime_error failed(const char* what) {
    return std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

// Three for each host, for as long as both processes have their share.
void allow_descriptors(size_t hosts) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlim_t wanted = 4 * hosts + 256;
    if (limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted;
    limit.rlim_max = std::max(limit.rlim_max, wanted);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
        throw failed("so many descriptors");
}

} // namespace

SimulatedHosts::SimulatedHosts(size_t hosts, size_t behind) {
    allow_descriptors(hosts);
    std::vector<UniqueFd> theirs;
    const auto make_pair = [](int type) {
        int ends[2];
        if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0)
            throw failed("sockets");
        return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
    };
    for (size_t i = 0; i < hosts; i++) {
        auto [console, agent] = make_pair(SOCK_STREAM);
        ::fcntl(console.get(), F_SETFL, O_NONBLOCK);
        pipes_.push_back(std::move(console));
        theirs.push_back(std::move(agent));
    }
    auto [ours, control] = make_pair(SOCK_SEQPACKET);
    process_ = ::fork();
    if (process_ < 0)
        throw failed("fork");
    if (process_ == 0) {
        pipes_.clear();
        ours.reset();
        serve_hosts(std::move(theirs), behind, control.get());
    }
    control_ = std::move(ours);
}

SimulatedHosts::~SimulatedHosts() {
    control_.reset(); // which it notices
    ::waitpid(process_, nullptr, 0);
}

remote::ConnectAgent SimulatedHosts::connect(size_t host) {
    return [this, host]() -> Result<remote::AgentPipe> {
        if (!pipes_[host])
            return Error{"start", "a simulated host", "it has been lost", ""};
        UniqueFd from = duplicate(pipes_[host].get());
        if (!from)
            return system_error("start", "a simulated host");
        return remote::AgentPipe{std::move(pipes_[host]), std::move(from), {}, {}};
    };
}

void SimulatedHosts::send(bool begin) {
    const Order order{now_ns_, begin};
    if (::send(control_.get(), &order, sizeof order, MSG_NOSIGNAL) != sizeof order ||
        ::recv(control_.get(), &said_, sizeof said_, 0) != sizeof said_)
        throw std::runtime_error("the simulated hosts have ended");
}

void SimulatedHosts::pass(uint64_t ns) {
    now_ns_ += ns;
    send(false);
}

void SimulatedHosts::begin_work() {
    send(true);
}

} // namespace auger::bench
