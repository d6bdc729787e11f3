// SPDX-License-Identifier: GPL-3.0-or-later
// A message asks for one command: counts, then strings that end with a zero each; descriptors with
// it. The answer is the process's number with its pidfd, or the number of the error alone.
#include "loader/process/starter.h"

#include "loader/process/argument_pointers.h"
#include "loader/process/message.h"

#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace auger {
namespace {

constexpr size_t longest_command = size_t{16} << 20; // the kernel allows 6 MB of arguments

struct Head {
    uint32_t paths, arguments, environment, own_group;
    uint32_t stdio; // a bit each of those that are handed over
};

struct Answer {
    int32_t pid, error;
};

void append(std::string& bytes, std::span<const std::string> texts) {
    for (const std::string& text : texts)
        bytes.append(text.c_str(), text.size() + 1);
}

std::string encode(const Starter::Command& command) {
    Head head{static_cast<uint32_t>(command.paths.size()),
              static_cast<uint32_t>(command.arguments.size()),
              static_cast<uint32_t>(command.environment.size()), command.own_group, 0};
    for (unsigned to = 0; to < 3; to++)
        head.stdio |= command.stdio[to] >= 0 ? 1U << to : 0;
    std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
    append(bytes, command.paths);
    append(bytes, command.arguments);
    append(bytes, command.environment);
    return bytes;
}

// Takes `count` strings off the front; false when there are fewer.
bool take(std::string_view& bytes, uint32_t count, std::vector<std::string>& texts) {
    for (uint32_t i = 0; i < count; i++) {
        const size_t end = bytes.find('\0');
        if (end == bytes.npos)
            return false;
        texts.emplace_back(bytes.substr(0, end));
        bytes.remove_prefix(end + 1);
    }
    return true;
}

std::optional<Starter::Command> decode(const Message& message) {
    Head head{};
    std::string_view bytes = message.bytes;
    if (bytes.size() < sizeof head)
        return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof head);
    bytes.remove_prefix(sizeof head);
    Starter::Command command;
    if (!take(bytes, head.paths, command.paths) ||
        !take(bytes, head.arguments, command.arguments) ||
        !take(bytes, head.environment, command.environment) || command.arguments.empty())
        return std::nullopt;
    command.own_group = head.own_group != 0;
    size_t next = 2;
    for (unsigned to = 0; to < 3; to++)
        if (head.stdio >> to & 1 && next < message.descriptors.size())
            command.stdio[to] = message.descriptors[next++].get();
    if (message.descriptors.size() != next)
        return std::nullopt;
    command.go = message.descriptors[0].get();
    command.error = message.descriptors[1].get();
    return command;
}

void start_one(int socket, const Message& message) {
    Answer answer{-1, EINVAL};
    int process = -1;
    if (auto command = decode(message)) {
        const WaitingCommand waiting{
            command->paths,
            argument_pointers(command->arguments),
            argument_pointers(command->environment),
            nullptr,
            {},
            command->own_group,
            {command->stdio[0], command->stdio[1], command->stdio[2]},
            command->go,
            command->error,
        };
        // Our parent's child: auger waits for it as for one that it has forked.
        const auto pid = static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | CLONE_PIDFD | SIGCHLD,
                                                    nullptr, &process, nullptr, 0));
        if (pid == 0)
            become_command(waiting);
        answer = {pid, pid < 0 ? errno : 0};
    }
    const UniqueFd handle(answer.pid > 0 ? process : -1);
    const int handles[] = {handle.get()};
    send_message(socket, {reinterpret_cast<const char*>(&answer), sizeof answer},
                 std::span<const int>(handles).first(handle ? 1 : 0));
}

// Errno, or 0.
int become_user(const std::optional<InvokingUser>& user, const std::vector<gid_t>& groups) {
    if (!user)
        return 0;
    return setgroups(groups.size(), groups.data()) != 0 ||
                   setresgid(user->gid, user->gid, user->gid) != 0 ||
                   setresuid(user->uid, user->uid, user->uid) != 0
               ? errno
               : 0;
}

[[noreturn]] void serve(int socket, int refusal) {
    prctl(PR_SET_NAME, "auger-starter");
    // What ends or stops auger is meant for auger, and for the command.
    for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTOU, SIGPIPE})
        signal(number, SIG_IGN);
    while (auto message = receive_message(socket, longest_command)) {
        if (refusal == 0) {
            start_one(socket, *message);
        } else {
            const Answer answer{-1, refusal};
            send_message(socket, {reinterpret_cast<const char*>(&answer), sizeof answer});
        }
    }
    _exit(0);
}

} // namespace

Result<std::unique_ptr<Starter>> Starter::start(const std::optional<InvokingUser>& user) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return system_error("make a socket pair for", "the process that starts commands");
    UniqueFd ours(ends[0]), its(ends[1]);
    const std::vector<gid_t> groups = user ? groups_of(*user) : std::vector<gid_t>();
    const pid_t pid = fork();
    if (pid < 0)
        return system_error("fork", "the process that starts commands");
    if (pid == 0) {
        ours.reset();
        serve(its.get(), become_user(user, groups));
    }
    return std::unique_ptr<Starter>(new Starter(std::move(ours), pid));
}

Starter::~Starter() {
    shutdown(socket_.get(), SHUT_RDWR);
    socket_.reset();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

Result<Starter::Started> Starter::run(const Command& command) {
    std::vector<int> handles{command.go, command.error};
    for (const int fd : command.stdio)
        if (fd >= 0)
            handles.push_back(fd);
    const std::string& name = command.arguments.front();
    if (!send_message(socket_.get(), encode(command), handles))
        return Error{"start", name, "the process that starts commands is gone", ""};
    auto message = receive_message(socket_.get(), sizeof(Answer));
    Answer answer{};
    if (!message || message->bytes.size() != sizeof answer)
        return Error{"start", name, "the process that starts commands is gone", ""};
    std::memcpy(&answer, message->bytes.data(), sizeof answer);
    if (message->descriptors.size() != 1)
        return system_error("start", name, "", answer.error);
    return Started{answer.pid, std::move(message->descriptors.front())};
}

} // namespace auger
