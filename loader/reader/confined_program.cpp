// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/confined_program.h"

#include "loader/base/fd.h"
#include "loader/process/capabilities.h"
#include "loader/process/confined_memory.h"
#include "loader/process/message.h"
#include "loader/reader/confinement.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
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

// The launcher's children. Together they may hold as much memory as one of them may address; beyond
// that the largest ends.
class Children {
  public:
    explicit Children(const ConfinedLimits& limits) : most_(confined_memory_limit(limits.memory)) {}

    void add(pid_t pid) { running_.push_back(pid); }
    void collect() {
        std::erase_if(running_, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; });
    }
    // Every now and then: memory does not fill up in less.
    void watch() {
        constexpr std::chrono::milliseconds pause{500};
        if (running_.empty() || std::chrono::steady_clock::now() < next_)
            return;
        next_ = std::chrono::steady_clock::now() + pause;
        collect();
        uint64_t sum = 0;
        std::pair<uint64_t, pid_t> largest;
        for (const pid_t pid : running_)
            if (const auto memory = confined_memory(pid, getpid())) {
                sum += memory->bytes;
                largest = std::max(largest, std::pair(memory->bytes, pid));
            }
        if (sum > most_)
            kill(largest.second, SIGKILL);
    }
    void end() {
        for (const pid_t pid : running_)
            kill(pid, SIGKILL);
        for (const pid_t pid : running_)
            waitpid(pid, nullptr, 0);
    }

  private:
    const uint64_t most_; // bytes
    std::vector<pid_t> running_;
    std::chrono::steady_clock::time_point next_{};
};

// Starts one for every message, and hands back its number, socket and pidfd.
int launch(std::span<char* const> arguments, const ConfinedLimits& limits, bool network) {
    prctl(PR_SET_NAME, "auger-readers");
    if (network)
        (void)keep_capabilities(0);
    else
        prepare_to_confine();
    const UniqueFd program(open("/proc/self/exe", O_PATH | O_CLOEXEC));
    if (!program)
        return 1;
    fcntl(confined_socket, F_SETFD, FD_CLOEXEC);
    Children children(limits);
    const auto go_on = [&] {
        children.watch();
        return true;
    };
    while (const auto message = receive_message(confined_socket, name_limit, go_on)) {
        children.collect();
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            break;
        UniqueFd theirs(ends[0]), its(ends[1]);
        const pid_t pid = fork();
        if (pid == 0)
            execute(program.get(), message->bytes, its.get(), arguments);
        if (pid > 0)
            children.add(pid);
        UniqueFd process(pid < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
        const int handles[] = {theirs.get(), process.get()};
        const std::string_view number(reinterpret_cast<const char*>(&pid), sizeof pid);
        if (!process || !send_message(confined_socket, number, handles))
            break;
    }
    children.end();
    return 0;
}

int serve(const char* name, std::span<const ConfinedService> services,
          const ConfinedLimits& limits) {
    const auto service = std::ranges::find_if(services, [&](const ConfinedService& candidate) {
        return std::strcmp(candidate.name, name) == 0;
    });
    if (service == services.end())
        return 1;
    prctl(PR_SET_NAME, (confined_name + std::string(name)).c_str());
    setpriority(PRIO_PROCESS, 0, service->nice);
    if (!service->confines_itself && !confine(limits, service->written))
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
    for (const bool network : {false, true})
        if (asked && argc >= 2 &&
            std::strcmp(argv[1], network ? launch_with_network_word : launch_word) == 0)
            _exit(launch({argv, static_cast<size_t>(argc)}, limits, network));
    if (asked && argc >= 3 && std::strcmp(argv[1], serve_word) == 0)
        _exit(serve(argv[2], services, limits));
    std::fprintf(stderr, "%s: auger starts this program to read files in; it is of no other use\n",
                 argc > 0 ? argv[0] : "auger-reader");
    return 2;
}

} // namespace auger
