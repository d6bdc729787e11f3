// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/confined_program.h"

#include "loader/base/fd.h"
#include "loader/process/confinement.h"
#include "loader/process/message.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace auger {
namespace {

constexpr size_t name_limit = 64;

// Executes this program anew, so that the process has a memory layout of its own: who makes many of
// them crash learns nothing of the next one's.
[[noreturn]] void execute(int program, const std::string& service, int socket,
                          std::span<char* const> rest) {
    std::vector<char*> arguments = {rest[0], const_cast<char*>(serve_word),
                                    const_cast<char*>(service.c_str())};
    arguments.insert(arguments.end(), rest.begin() + 2, rest.end());
    arguments.push_back(nullptr);
    char* environment[] = {nullptr};
    // When memory runs out it is a reader's that is freed.
    if (const UniqueFd score(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)); score)
        (void)!write(score.get(), "1000", 4);
    if (dup2(socket, confined_socket) == confined_socket && fcntl(confined_socket, F_SETFD, 0) == 0)
        syscall(SYS_execveat, program, "", arguments.data(), environment, AT_EMPTY_PATH);
    _exit(127);
}

// Starts one for every message, and hands back its socket and pidfd.
int launch(std::span<char* const> arguments) {
    prctl(PR_SET_NAME, "auger-readers");
    prepare_to_confine();
    const UniqueFd program(open("/proc/self/exe", O_PATH | O_CLOEXEC));
    if (!program)
        return 1;
    fcntl(confined_socket, F_SETFD, FD_CLOEXEC);
    std::vector<pid_t> running;
    while (const auto message = receive_message(confined_socket, name_limit)) {
        std::erase_if(running, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; });
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            break;
        UniqueFd theirs(ends[0]), its(ends[1]);
        const pid_t pid = fork();
        if (pid == 0)
            execute(program.get(), message->bytes, its.get(), arguments);
        if (pid > 0)
            running.push_back(pid);
        UniqueFd process(pid < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
        const int handles[] = {theirs.get(), process.get()};
        if (!process || !send_message(confined_socket, "!", handles))
            break;
    }
    for (const pid_t pid : running)
        kill(pid, SIGKILL);
    for (const pid_t pid : running)
        waitpid(pid, nullptr, 0);
    return 0;
}

int serve(const char* name, std::span<const ConfinedService> services,
          const ConfinedLimits& limits) {
    const auto service = std::ranges::find_if(services, [&](const ConfinedService& candidate) {
        return std::strcmp(candidate.name, name) == 0;
    });
    if (service == services.end())
        return 1;
    prctl(PR_SET_NAME, ("auger-" + std::string(name)).c_str());
    setpriority(PRIO_PROCESS, 0, service->nice);
    if (!confine(limits, service->written))
        return 1;
    service->serve(confined_socket);
    return 0;
}

} // namespace

int confined_program(int argc, char** argv, std::span<const ConfinedService> services,
                     const ConfinedLimits& limits) {
    int type = 0;
    socklen_t size = sizeof type;
    const bool asked = getsockopt(confined_socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
    if (asked && argc >= 2 && std::strcmp(argv[1], launch_word) == 0)
        _exit(launch({argv, static_cast<size_t>(argc)}));
    if (asked && argc >= 3 && std::strcmp(argv[1], serve_word) == 0)
        _exit(serve(argv[2], services, limits));
    std::fprintf(stderr, "%s: auger starts this program to read files in; it is of no other use\n",
                 argc > 0 ? argv[0] : "auger-reader");
    return 2;
}

} // namespace auger
