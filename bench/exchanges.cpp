// SPDX-License-Identifier: GPL-3.0-or-later
// What watching exchanges takes of a server: CPU time of a thread that answers requests of one
// client over loopback, at once and after some work, with all that the kernel does for it
// meanwhile.
#include "bench/benches.h"
#include "bench/probing.h"
#include "bench/report.h"

#include "loader/kernel/exchange_spans.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <stdexcept>

namespace auger::bench {

namespace {

constexpr int rounds = 31;
constexpr ProbeId span{1};

using Message = std::array<uint32_t, 16>; // the first: microseconds of work

uint64_t cpu_time(clockid_t clock) {
    timespec time = {};
    clock_gettime(clock, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

void spin(uint32_t microseconds) {
    const uint64_t end = cpu_time(CLOCK_THREAD_CPUTIME_ID) + uint64_t{microseconds} * 1000;
    while (microseconds && cpu_time(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

// Answers each message, in a process of its own.
class Server {
  public:
    Server() {
        UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        if (bind(listener.get(), generic, sizeof address) < 0 || listen(listener.get(), 1) < 0 ||
            getsockname(listener.get(), generic, &size) < 0)
            throw std::runtime_error("listen");
        pid_ = fork();
        if (pid_ < 0)
            throw std::runtime_error("fork");
        if (pid_ == 0)
            serve(listener.get());
        port_ = ntohs(address.sin_port);
        if (clock_getcpuclockid(pid_, &clock_) != 0)
            throw std::runtime_error("the server's clock");
        client_.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (connect(client_.get(), generic, sizeof address) < 0)
            throw std::runtime_error("connect");
        do_not_delay(client_.get());
    }
    ~Server() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    pid_t pid() const { return pid_; }
    uint16_t port() const { return port_; }
    // ns of CPU time an exchange.
    double ask(uint32_t microseconds, int count) const {
        Message message = {microseconds};
        const uint64_t begin = cpu_time(clock_);
        for (int i = 0; i < count; i++)
            if (!exchange(client_.get(), message, true))
                throw std::runtime_error("the server does not answer");
        return static_cast<double>(cpu_time(clock_) - begin) / count;
    }

  private:
    static void do_not_delay(int fd) {
        const int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    static bool exchange(int fd, Message& message, bool first) {
        const auto whole = static_cast<ssize_t>(sizeof message);
        return (!first || send(fd, message.data(), sizeof message, MSG_NOSIGNAL) == whole) &&
               recv(fd, message.data(), sizeof message, MSG_WAITALL) == whole &&
               (first || (spin(message[0]),
                          send(fd, message.data(), sizeof message, MSG_NOSIGNAL) == whole));
    }
    [[noreturn]] static void serve(int listener) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int fd = accept(listener, nullptr, nullptr);
        do_not_delay(fd);
        Message message = {};
        while (exchange(fd, message, false))
            ;
        _exit(0);
    }

    pid_t pid_ = -1;
    uint16_t port_ = 0;
    clockid_t clock_ = 0;
    UniqueFd client_;
};

void measure(Tracker& tracker, const Features& features, uint32_t microseconds, int count) {
    const Server server;
    SpecSettings settings;
    settings.is_span = true;
    settings.limit_ns = SpanDefinition::default_limit_ns;
    const SpecId spec = take(tracker.specs().add(settings));
    tracker.observe(server.pid());
    Series without, with;
    for (int round = 0; round < rounds; round++) {
        server.ask(microseconds, count / 10);
        without.push_back(server.ask(microseconds, count));
        ExchangeSpans exchanges(tracker.programs(), features);
        take(exchanges.add(span, tracker.specs().cookie(spec), {.port = server.port()}));
        server.ask(microseconds, count / 10);
        with.push_back(server.ask(microseconds, count));
        exchanges.remove(span);
    }
    const auto seen = tracker.specs().read(spec, 0);
    if (!seen || seen->entries < static_cast<uint64_t>(rounds) * static_cast<uint64_t>(count))
        throw std::runtime_error("the exchanges were not seen");
    tracker.forget(server.pid());
    tracker.release({spec});
    print_row(microseconds ? fmt::format("{} us of work", microseconds) : "none", with, without,
              "ns", microseconds ? std::optional(1.03) : std::nullopt);
}

} // namespace

void bench_exchanges(const Features& features) {
    if (!features.socket_tracepoints) {
        print_skipped("exchanges", features.socket_tracepoints_fault);
        return;
    }
    Tracker tracker(features);
    begin_table("Exchanges of a server",
                "ns of the server's CPU time for an exchange of 64 bytes over loopback, while "
                "they are watched, and while not.",
                "watched", "not");
    measure(tracker, features, 0, 2000);
    measure(tracker, features, 50, 500);
}

} // namespace auger::bench
