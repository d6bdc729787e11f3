// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/agent_process.h"

#include <fcntl.h>
#include <unistd.h>

namespace auger::remote {

Result<AgentPipe> start_agent(const std::vector<std::string>& arguments, Starter* starter) {
    struct Ends {
        UniqueFd read, write;
    } in, out, err;
    for (Ends* ends : {&in, &out, &err}) {
        int fds[2];
        if (::pipe2(fds, O_CLOEXEC) != 0)
            return system_error("start", arguments.front());
        ends->read.reset(fds[0]);
        ends->write.reset(fds[1]);
    }
    LaunchOptions options;
    options.arguments = arguments;
    options.terminate_on_exit = true;
    options.stdin_fd = in.read.get();
    options.stdout_fd = out.write.get();
    options.stderr_fd = err.write.get();
    options.starter = starter;
    auto process = LaunchedProcess::start(options);
    if (!process)
        return process.error();
    if (auto released = process->release(); !released)
        return released.error();
    for (const int fd : {in.write.get(), out.read.get(), err.read.get()})
        ::fcntl(fd, F_SETFL, O_NONBLOCK);
    return AgentPipe{std::move(in.write), std::move(out.read), std::move(err.read),
                     std::move(*process)};
}

} // namespace auger::remote
