// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/terminal/run_agent.h"

#include "loader/kernel/live_backend.h"
#include "loader/process/capabilities.h"
#include "loader/process/confined_process.h"
#include "loader/process/proc_info.h"
#include "loader/process/starter.h"
#include "loader/remote/agent.h"
#include "loader/remote/hosts_backend.h"
#include "repl/language/complaint.h"

#include <fmt/format.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace auger {

namespace {

constexpr const char* program = "auger " AUGER_VERSION;

ExitCode outcome(const Result<void>& served) {
    if (served)
        return ExitCode::ok;
    fmt::print(stderr, "auger: {}\n", printable(served.error().message()));
    return exit_code(served.error().kind);
}

// Of other machines, by an agent on each. It needs no rights on its own.
ExitCode run_relay(const Options& options) {
    auto starter = Starter::start(invoking_user());
    if (!starter)
        return outcome(starter.error());
    if (!keep_capabilities(capabilities_to_keep(Work::replaying)))
        return outcome(system_error("give up", "capabilities"));
    const auto open = [&](const remote::OpenRequest& request, EventSink& sink) {
        remote::HostsOptions hosts;
        hosts.program = program;
        for (const remote::HostCommand& command : options.hosts)
            hosts.agents.push_back({command.name, [&command, &starter] {
                                        return remote::start_agent(command.arguments,
                                                                   starter->get());
                                    }});
        hosts.open = request;
        if (options.host_bytes)
            hosts.bytes_per_second = options.host_bytes;
        hosts.relays = true;
        return remote::make_hosts_backend(hosts, sink);
    };
    return outcome(remote::serve_agent(program, open, STDIN_FILENO, STDOUT_FILENO, true));
}

} // namespace

ExitCode run_agent(const Options& options) {
    // A console that is gone is noticed by writing.
    std::signal(SIGPIPE, SIG_IGN);
    if (!options.hosts.empty())
        return run_relay(options);
    // Before rights are given up; without a starter, since it starts nothing.
    std::shared_ptr<ConfinedProcesses> readers;
    if (auto started = ConfinedProcesses::start(reader_program()))
        readers = *std::move(started);
    const auto open = [&](const remote::OpenRequest& request, EventSink& sink) {
        LiveOptions options;
        options.readers = readers;
        options.give_up_rights = true;
        options.at_terminal = request.at_terminal;
        constexpr auto last = static_cast<uint8_t>(LiveOptions::Attach::perf);
        options.attach = static_cast<LiveOptions::Attach>(std::min(request.attach, last));
        options.retention = [request] { return Retention{request.samples, request.slow_calls}; };
        return make_live_backend(options, sink);
    };
    return outcome(remote::serve_agent(program, open, STDIN_FILENO, STDOUT_FILENO));
}

} // namespace auger
