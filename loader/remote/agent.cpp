// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/agent.h"

#include "loader/base/fd.h"
#include "loader/base/guarded.h"
#include "loader/base/read_clock.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace auger::remote {

namespace {

// The stream is told so often, which is what the console's figures are late by.
constexpr std::chrono::milliseconds block_interval{50};
// What a target is made of changes all the time, and is looked at less often.
constexpr uint64_t state_interval_ns = second_ns;
// Of which the console is told; those that run come first.
constexpr size_t most_processes = 1000;
// What a console may have asked for at once, and names that one question brings.
constexpr size_t most_unread = 32 << 20;
constexpr uint32_t most_completions = 1000;
constexpr std::chrono::seconds longest_settling{10};

Error refused_command(const TargetSpec& target) {
    return {"start", target.command.empty() ? "" : target.command.front(),
            "an agent does not do that for a console", "do it on that machine: `auger`",
            Error::Kind::unsupported};
}

template <typename T>
Result<std::string> packed(const Result<T>& result) {
    if (!result)
        return result.error();
    return encoded(result.value());
}

template <>
Result<std::string> packed(const Result<void>& result) {
    if (!result)
        return result.error();
    return std::string();
}

// As many of the stacks as one frame has room for.
std::vector<ThreadNow> fitting(std::vector<ThreadNow> threads) {
    size_t left = most_elements / 2;
    for (ThreadNow& thread : threads) {
        if (thread.stack.size() > left) {
            thread.stack.clear();
            thread.add_remark("its stack is not told: others take all the room");
        }
        left -= thread.stack.size();
    }
    return threads;
}

// Does one request on the backend.
struct CarryOut {
    Backend& backend;

    Result<std::string> operator()(const SetTarget& request) const {
        if (request.target.kind == TargetSpec::Kind::command)
            return refused_command(request.target);
        return packed(backend.set_target(request.target));
    }
    Result<std::string> operator()(const CheckTarget& request) const {
        if (request.target.kind == TargetSpec::Kind::command)
            return refused_command(request.target);
        return packed(backend.check_target(request.target));
    }
    Result<std::string> operator()(const CheckProbe& request) const {
        return packed(backend.check_probe(request.probe));
    }
    Result<std::string> operator()(const AddProbe& request) const {
        return packed(backend.add_probe(request.probe));
    }
    Result<std::string> operator()(const PlanProbe& request) const {
        return packed(backend.plan_probe(request.text));
    }
    Result<std::string> operator()(const RemoveProbe& request) const {
        return packed(backend.remove_probe(request.probe));
    }
    Result<std::string> operator()(const SetAttached& request) const {
        return packed(backend.set_attached(request.probe, request.attached));
    }
    Result<std::string> operator()(const FindCallSites& request) const {
        return packed(backend.find_call_sites(request.function));
    }
    Result<std::string> operator()(const FindUsdtProbes& request) const {
        return packed(backend.find_usdt_probes(request.pattern));
    }
    Result<std::string> operator()(const FindListeners&) const {
        return packed(backend.find_listeners());
    }
    Result<std::string> operator()(const ListTracepoints& request) const {
        return packed(backend.list_tracepoints(request.pattern));
    }
    Result<std::string> operator()(const SetSlow& request) const {
        return packed(backend.set_slow(request.probe, request.threshold, request.conditions));
    }
    Result<std::string> operator()(const SetSplit& request) const {
        return packed(backend.set_split(request.split));
    }
    Result<std::string> operator()(const SetExplained& request) const {
        return packed(backend.set_explained(request.explain));
    }
    Result<std::string> operator()(const SetOnly& request) const {
        return packed(backend.set_only(request.only));
    }
    Result<std::string> operator()(const ListOpenCalls& request) const {
        return packed(backend.open_calls(request.probe));
    }
    Result<std::string> operator()(const ListThreads&) const {
        auto threads = backend.threads_now();
        if (!threads)
            return threads.error();
        return encoded(fitting(*std::move(threads)));
    }
    Result<std::string> operator()(const SetSampling& request) const {
        return packed(backend.set_sampling(request.sampling));
    }
    Result<std::string> operator()(const SetFilter& request) const {
        return packed(backend.set_filter(request.filter));
    }
    Result<std::string> operator()(const SetWayOut& request) const {
        return packed(backend.set_way_out(request.way));
    }
    Result<std::string> operator()(const Refresh&) const { return packed(backend.refresh()); }
    Result<std::string> operator()(const SettleSymbols& request) const {
        backend.settle_symbols(std::clamp<std::chrono::nanoseconds>(
            request.timeout, std::chrono::nanoseconds(0), longest_settling));
        return std::string();
    }
    Result<std::string> operator()(const CompleteFunction& request) const {
        return encoded(
            backend.complete_function(request.prefix, std::min(request.limit, most_completions)));
    }
};

// Waits until it is readable.
void wait_for(int fd, std::chrono::nanoseconds timeout) {
    pollfd wake{fd, POLLIN, 0};
    ::poll(&wake, 1,
           static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count()));
}

} // namespace

Agent::Agent(std::string program, OpenBackend open, AgentOutput& output, bool relays)
    : relays_(relays),
      hello_(own_hello(std::move(program), relays ? std::vector{std::string(feature_relay)}
                                                  : std::vector<std::string>())),
      open_(std::move(open)), output_(output),
      stream_([&output] { return output.crowded(); }, relays) {
    output_.put(FrameKind::hello, encoded(hello_));
}

// Before the stream that it tells.
Agent::~Agent() {
    backend_.reset();
}

bool Agent::end(const Error& error) {
    output_.put(FrameKind::end, encoded(error));
    (void)output_.flush();
    return false;
}

bool Agent::is_alone(std::chrono::nanoseconds silence) const {
    return backend_ &&
           read_clock(CLOCK_MONOTONIC) - heard_ns_ > static_cast<uint64_t>(silence.count());
}

bool Agent::take(std::string_view bytes) {
    heard_ns_ = read_clock(CLOCK_MONOTONIC);
    frames_.add(bytes);
    if (frames_.bytes() > most_unread)
        return end({"", "", "the console asks for more than can be read at once", ""});
    for (;;) {
        auto frame = frames_.next();
        if (!frame)
            return end(frame.error());
        if (!*frame)
            return true;
        if (!take(**frame))
            return false;
    }
}

bool Agent::take(const ReceivedFrame& frame) {
    const auto broken = [this] {
        return end({"", "", "what the console says cannot be understood", ""});
    };
    switch (static_cast<FrameKind>(frame.kind)) {
    case FrameKind::hello: {
        const auto hello = decoded<Hello>(frame.body);
        if (!hello)
            return broken();
        auto agreement = agree(*hello, hello_);
        if (!agreement)
            return end(agreement.error());
        agreement_ = *agreement;
        return true;
    }
    case FrameKind::ping: {
        const auto ping = decoded<Ping>(frame.body);
        if (!ping)
            return broken();
        output_.put(FrameKind::pong, encoded(Pong{ping->console_ns, read_clock(CLOCK_MONOTONIC)}));
        return output_.flush();
    }
    case FrameKind::open: {
        const auto request = decoded<OpenRequest>(frame.body);
        return request && agreement_ && !backend_ ? open(*request) : broken();
    }
    case FrameKind::request: {
        auto request = decoded_request(frame.body);
        if (!request || !backend_)
            return broken();
        const Result<std::string> answered =
            request->request
                ? answer(*request->request)
                : Error{"", "", "the agent does not know what is asked for",
                        "install the same version on both machines", Error::Kind::unsupported};
        // What came meanwhile is told first: the console has it when it has the answer.
        tell_stream();
        tell_state();
        output_.put(FrameKind::answer, encoded_answer(request->number, answered));
        return output_.flush();
    }
    default:
        return true; // of a newer console
    }
}

bool Agent::open(const OpenRequest& request) {
    auto backend = guarded([&] { return open_(request, stream_); });
    if (!backend)
        return end(backend.error());
    backend_ = std::move(*backend);
    tell_state();
    output_.put(FrameKind::answer,
                encoded_answer(0, encoded(OpenReport{backend_->capabilities()})));
    return output_.flush();
}

Result<std::string> Agent::answer(const Request& request) {
    return guarded([&] { return std::visit(CarryOut{*backend_}, request); });
}

void Agent::tell_stream() {
    while (const auto block = stream_.take_block()) {
        if (relays_)
            output_.put(FrameKind::relayed_block, encoded_relayed_block(*block, agreement_->zlib));
        else
            output_.put(FrameKind::block, encoded_block(*block, agreement_->zlib));
    }
}

void Agent::tell_state() {
    TargetStatus target = backend_->target_status();
    if (target.processes.size() > most_processes) {
        std::ranges::stable_partition(target.processes, &TargetStatus::Process::running);
        target.processes.resize(most_processes);
    }
    const HostState state{std::move(target),           backend_->links(),
                          backend_->symbol_progress(), backend_->unwind_status(),
                          backend_->reader_status(),   ended_,
                          stream_.lost_samples()};
    state_ns_ = read_clock(CLOCK_MONOTONIC);
    // The next ones say the same, and more.
    if (relays_ && !output_.crowded())
        output_.put(FrameKind::hosts, encoded(RelayedHosts{backend_->hosts()}));
    std::string told = encoded(state);
    if (told == told_state_)
        return;
    output_.put(FrameKind::state, told);
    told_state_ = std::move(told);
}

bool Agent::work(std::chrono::nanoseconds timeout, int wake_fd) {
    if (!backend_ || ended_) {
        wait_for(wake_fd, timeout);
    } else {
        const auto more = guarded([&] { return backend_->poll(timeout, wake_fd); });
        if (!more)
            return end(more.error());
        ended_ = !*more;
    }
    if (backend_) {
        tell_stream();
        if (ended_ != told_end_ || read_clock(CLOCK_MONOTONIC) - state_ns_ >= state_interval_ns)
            tell_state();
        told_end_ = ended_;
    }
    return output_.flush();
}

Result<void> serve_agent(std::string program, OpenBackend open, int in, int out, bool relays,
                         std::chrono::nanoseconds silence) {
    // One descriptor to wait for, since a backend can wait for one besides its own.
    const UniqueFd waiting(::epoll_create1(EPOLL_CLOEXEC));
    const auto watch = [&](int operation, int fd, uint32_t events) {
        epoll_event event{};
        event.events = events;
        event.data.fd = fd;
        return ::epoll_ctl(waiting.get(), operation, fd, &event) == 0;
    };
    const UniqueFd input = duplicate(in), output_fd = duplicate(out);
    if (!input || !output_fd || !watch(EPOLL_CTL_ADD, input.get(), EPOLLIN) ||
        !watch(EPOLL_CTL_ADD, output_fd.get(), 0))
        return Error{"serve", "a console", "standard input and output are no pipes",
                     "a console starts it: `auger -H HOST`", Error::Kind::usage};
    AgentOutput output(output_fd.get());
    Agent agent(std::move(program), std::move(open), output, relays);
    std::array<char, 1 << 16> buffer;
    bool going_on = output.flush();
    while (going_on) {
        watch(EPOLL_CTL_MOD, output_fd.get(), output.bytes() > 0 ? uint32_t{EPOLLOUT} : 0);
        going_on = agent.work(block_interval, waiting.get());
        pollfd readable{input.get(), POLLIN, 0};
        if (!going_on)
            break;
        if (::poll(&readable, 1, 0) <= 0) {
            going_on = !agent.is_alone(silence);
            continue;
        }
        const ssize_t got = ::read(input.get(), buffer.data(), buffer.size());
        if (got > 0)
            going_on = agent.take({buffer.data(), static_cast<size_t>(got)});
        else if (got == 0 || errno != EINTR)
            going_on = false;
    }
    return {};
}

} // namespace auger::remote
