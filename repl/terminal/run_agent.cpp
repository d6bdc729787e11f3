// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/terminal/run_agent.h"

#include "loader/kernel/live_backend.h"
#include "loader/process/confined_process.h"
#include "loader/remote/agent.h"
#include "repl/language/complaint.h"

#include <fmt/format.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace auger {

ExitCode run_agent() {
    // A console that is gone is noticed by writing.
    std::signal(SIGPIPE, SIG_IGN);
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
    const auto served =
        remote::serve_agent("auger " AUGER_VERSION, open, STDIN_FILENO, STDOUT_FILENO);
    if (served)
        return ExitCode::ok;
    fmt::print(stderr, "auger: {}\n", printable(served.error().message()));
    return exit_code(served.error().kind);
}

} // namespace auger
