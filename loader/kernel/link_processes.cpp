// SPDX-License-Identifier: GPL-3.0-or-later
// All of them are forked from one process, which is asked for another by a message. A process's
// own messages bring links that are to be closed (without bytes), or ask for one to be made: the
// answer is its descriptor, or why it could not be made.
#include "loader/kernel/link_processes.h"

#include "loader/kernel/links.h"
#include "loader/process/broken_lease.h"
#include "loader/process/capabilities.h"
#include "loader/process/message.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

namespace auger {

namespace {

constexpr int own_socket = STDERR_FILENO + 1;
constexpr std::string_view one_more = "!", no_perf_events = "-";
constexpr size_t longest_message = size_t{64} << 20;
// What 64 processes close takes as long as what one does.
constexpr size_t most_link_processes = 64;

// In a message; offsets, cookies and semaphores follow, `count` of each.
struct Request {
    uint32_t perf, attach_type, returns, count;
    int32_t pid;
};

// In an answer without descriptor; the cause, a zero and the hint follow.
struct Failure {
    uint32_t kind;
};

std::string encode(const LinkRequest& request) {
    const Request head{request.perf, request.attach_type, request.returns,
                       static_cast<uint32_t>(request.offsets.size()), request.pid};
    std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
    for (const auto& numbers : {request.offsets, request.cookies, request.semaphores})
        bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
    return bytes;
}

std::string encode(const Error& error) {
    const Failure head{static_cast<uint32_t>(error.kind)};
    std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
    return bytes + error.cause + '\0' + error.hint;
}

Error failure_of(std::string_view bytes) {
    Failure head{};
    if (bytes.size() < sizeof head)
        return {"attach uprobes", "", "the process that attaches them gave no answer", ""};
    std::memcpy(&head, bytes.data(), sizeof head);
    bytes.remove_prefix(sizeof head);
    const size_t zero = std::min(bytes.find('\0'), bytes.size());
    return {"attach uprobes", "", std::string(bytes.substr(0, zero)),
            std::string(bytes.substr(std::min(zero + 1, bytes.size()))),
            static_cast<Error::Kind>(head.kind)};
}

// Its answer goes to auger; what it holds beside that, it lets go of by its end.
void make_for(int socket, const Message& message, std::vector<UniqueFd>& held) {
    Request head{};
    if (message.bytes.size() < sizeof head || message.descriptors.size() != 2)
        return;
    std::memcpy(&head, message.bytes.data(), sizeof head);
    std::vector<uint64_t> numbers((message.bytes.size() - sizeof head) / sizeof(uint64_t));
    if (numbers.size() != size_t{head.count} * 3)
        return;
    std::memcpy(numbers.data(), message.bytes.data() + sizeof head,
                numbers.size() * sizeof(uint64_t));
    const auto all = std::span<const uint64_t>(numbers);
    auto link = make_link({.perf = head.perf != 0,
                           .attach_type = head.attach_type,
                           .program_fd = message.descriptors[0].get(),
                           .file_fd = message.descriptors[1].get(),
                           .offsets = all.first(head.count),
                           .cookies = all.subspan(head.count, head.count),
                           .semaphores = all.last(head.count),
                           .pid = head.pid,
                           .returns = head.returns != 0});
    if (!link) {
        send_message(socket, encode(link.error()));
        return;
    }
    held.push_back(std::move(*link));
    const int handle[] = {held.back().get()};
    send_message(socket, "", handle);
}

[[noreturn]] void be_one(int socket) {
    std::vector<UniqueFd> held;
    while (auto message = receive_message(socket, longest_message)) {
        if (message->bytes.empty())
            std::ranges::move(message->descriptors, std::back_inserter(held));
        else
            make_for(socket, *message, held);
    }
    // Nothing is closed before the end. A signal ends it, since whoever is killed on the way into
    // _exit() has a signal waiting while its descriptors are closed; one that has taken its signal
    // gets no other.
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

// Standard streams that lead nowhere, and the socket.
bool keep_only(int socket) {
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (nowhere < 0 || dup2(nowhere, fd) < 0)
            return false;
    if (socket != own_socket && dup2(socket, own_socket) < 0)
        return false;
    return close_range(own_socket + 1, ~0U, 0) == 0;
}

// Waits for a message. auger may be stopped meanwhile, when nobody but a process of its own can see
// that somebody waits for it to take probes off a file (FileGuard).
void await_message(pid_t auger) {
    constexpr int look_interval_ms = 1'000;
    pollfd message{own_socket, POLLIN, 0};
    while (poll(&message, 1, look_interval_ms) == 0)
        wake_for_lease(auger);
}

[[noreturn]] void serve(int socket) {
    const pid_t auger = getppid();
    prctl(PR_SET_NAME, "auger-links");
    setsid();
    // What ends or stops auger is meant for auger.
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTOU, SIGPIPE})
        ::signal(signal, SIG_IGN);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
        ::signal(signal, SIG_DFL);
    ::signal(SIGCHLD, SIG_IGN); // nobody waits for them
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    set_kernel_faults(nullptr);
    // What takes to make a link. The kernel asks for CAP_SYS_ADMIN for uprobes that are perf events
    // (Linux 6.16, and what was mended of older ones).
    constexpr CapabilitySet links = capability(CAP_BPF) | capability(CAP_PERFMON);
    if (chdir("/") != 0 || !keep_only(socket) ||
        !keep_capabilities(links | capability(CAP_SYS_ADMIN)))
        _exit(1);
    for (;;) {
        await_message(auger);
        const auto message = receive_message(own_socket, 1);
        if (!message)
            break;
        if (message->bytes == no_perf_events) {
            (void)keep_capabilities(links);
            continue;
        }
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            break;
        UniqueFd ours(ends[0]), its(ends[1]);
        const pid_t pid = fork();
        if (pid == 0) {
            ::close(own_socket);
            ours.reset();
            be_one(its.get());
        }
        // Nothing has been sent to it yet that would be let go of here.
        its.reset();
        const UniqueFd process(pid < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
        const int handles[] = {ours.get(), process.get()};
        if (!process || !send_message(own_socket, "", handles))
            break;
    }
    _exit(0);
}

} // namespace

Result<std::unique_ptr<LinkProcesses>> LinkProcesses::start() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return system_error("make a socket pair for", "the processes that close links");
    UniqueFd ours(ends[0]), its(ends[1]);
    const pid_t pid = fork();
    if (pid < 0)
        return system_error("fork", "the processes that close links");
    if (pid == 0)
        serve(its.get());
    return std::unique_ptr<LinkProcesses>(new LinkProcesses(std::move(ours), pid));
}

LinkProcesses::~LinkProcesses() {
    for (const One& one : unawaited_)
        one.wait();
    // Closing would not end it: a command that auger has forked and not yet let go has the socket,
    // too.
    shutdown(socket_.get(), SHUT_RDWR);
    socket_.reset();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void LinkProcesses::give_up_perf_events() {
    std::lock_guard lock(mutex_);
    (void)send_message(socket_.get(), no_perf_events);
}

std::optional<LinkProcesses::One> LinkProcesses::start_one() {
    std::lock_guard lock(mutex_);
    if (!send_message(socket_.get(), one_more))
        return std::nullopt;
    auto made = receive_message(socket_.get(), 0);
    if (!made || made->descriptors.size() != 2)
        return std::nullopt;
    return One{std::move(made->descriptors[0]), std::move(made->descriptors[1])};
}

bool LinkProcesses::One::take(std::span<const int> links) const {
    while (!links.empty()) {
        const size_t some = std::min(links.size(), most_descriptors);
        if (!send_message(socket.get(), "", links.first(some)))
            return false;
        links = links.subspan(some);
    }
    return true;
}

// What it held is off by then: a process is said to have ended after its descriptors are closed.
void LinkProcesses::One::wait() const {
    pollfd ended{process.get(), POLLIN, 0};
    while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
    }
}

Result<UniqueFd> LinkProcesses::ask(const One& one, const LinkRequest& request) {
    if (auto may = may_make(request); !may)
        return may.error();
    const int handles[] = {request.program_fd, request.file_fd};
    if (!send_message(one.socket.get(), encode(request), handles))
        return make_link(request);
    auto answer = receive_message(one.socket.get(), longest_message);
    if (!answer)
        return make_link(request);
    if (answer->descriptors.size() != 1)
        return failure_of(answer->bytes);
    return std::move(answer->descriptors.front());
}

Result<std::vector<UniqueFd>> LinkProcesses::make(std::span<const LinkRequest> requests) {
    std::optional<One> one = start_one();
    std::vector<UniqueFd> links;
    std::optional<Error> error;
    for (const LinkRequest& request : requests) {
        auto link = one ? ask(*one, request) : make_link(request);
        if (!link) {
            error = link.error();
            break;
        }
        links.push_back(std::move(*link));
    }
    // It has them, too.
    if (one) {
        one->socket.reset();
        one->wait();
    }
    if (!error)
        return links;
    close(std::move(links));
    return *error;
}

std::vector<LinkProcesses::One> LinkProcesses::hand_over(std::vector<UniqueFd>& links) {
    std::vector<One> closers;
    std::vector<UniqueFd> left;
    const size_t count = std::min(links.size(), most_link_processes);
    for (size_t first = 0; first < count; first++) {
        std::vector<int> its;
        for (size_t at = first; at < links.size(); at += count)
            its.push_back(links[at].get());
        auto one = start_one();
        const bool taken = one && one->take(its);
        // While the other has them these are not the last ones.
        for (size_t at = first; at < links.size(); at += count) {
            if (taken)
                links[at].reset();
            else
                left.push_back(std::move(links[at]));
        }
        if (one)
            closers.push_back(std::move(*one));
    }
    links = std::move(left);
    for (One& closer : closers)
        closer.socket.reset();
    return closers;
}

void LinkProcesses::close(std::vector<UniqueFd> links) {
    const std::vector<One> closers = hand_over(links);
    close_links(nullptr, std::move(links));
    for (const One& closer : closers)
        closer.wait();
}

void LinkProcesses::close_later(std::vector<UniqueFd> links) {
    std::vector<One> closers = hand_over(links);
    {
        std::lock_guard lock(mutex_);
        std::ranges::move(closers, std::back_inserter(unawaited_));
    }
    close_links(nullptr, std::move(links));
}

} // namespace auger
