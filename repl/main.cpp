// SPDX-License-Identifier: GPL-3.0-or-later
// auger: options, then commands in their order, then the prompt.
#include "loader/base/guarded.h"
#include "loader/kernel/live_backend.h"
#include "loader/process/capabilities.h"
#include "loader/process/confined_process.h"
#include "loader/process/starter.h"
#include "loader/recording/replay_backend.h"
#include "loader/remote/hosts_backend.h"
#include "repl/commands/table.h"
#include "repl/language/script.h"
#include "repl/session/session.h"
#include "repl/session/unavailable_backend.h"
#include "repl/terminal/console.h"
#include "repl/terminal/guardian.h"
#include "repl/terminal/options.h"
#include "repl/terminal/pick_process.h"
#include "repl/terminal/run_agent.h"
#include "repl/terminal/service_manager.h"
#include "repl/terminal/terminal_view.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <clocale>
#include <cstring>

namespace auger {
namespace {

// A descriptor that was closed before auger began would be given to the next file that it opens,
// and be written to as if it were standard output. Returns whether standard input was closed.
bool fill_closed_descriptors() {
    bool input_closed = false;
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(fd, F_GETFD) >= 0)
            continue;
        input_closed |= fd == STDIN_FILENO;
        // Lowest number free: fd itself. Reading output fails, and so is noticed.
        (void)::open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_RDONLY | O_CLOEXEC);
    }
    return input_closed;
}

void say(StreamOutput& output, bool json, const Error& error) {
    if (json)
        output.result(json_error(error) + "\n");
    else
        output.error(fmt::format("error: {}\n", printable(error.message())));
}

// Processes that are begun before auger has anything of which they would have their share, and
// before it gives up what it does not need.
struct Helpers {
    std::unique_ptr<Starter> starter;           // null: nothing is started
    std::unique_ptr<Guardian> guardian;         // null: no terminal
    std::shared_ptr<ConfinedProcesses> readers; // null: none were asked for, or can be had
};

Result<Helpers> begin(const Options& options, bool at_terminal) {
    const bool live = options.replay.empty() && options.hosts.empty();
    Helpers helpers;
    // Before the guardian: it would keep open what that waits for the end of.
    if (live || !options.hosts.empty()) {
        auto starter = Starter::start(invoking_user());
        if (!starter)
            return starter.error();
        helpers.starter = std::move(*starter);
    }
    if (at_terminal) {
        auto guardian = Guardian::start();
        if (!guardian)
            return guardian.error();
        helpers.guardian = std::move(*guardian);
    }
    if (live || !options.replay_options.sysroot.empty()) {
        if (auto readers = ConfinedProcesses::start(reader_program()))
            helpers.readers = *std::move(readers);
    }
    // The live backend does so itself, once it knows what it needs.
    if (!live && !keep_capabilities(capabilities_to_keep(Work::replaying)))
        return system_error("give up", "capabilities");
    return helpers;
}

Result<std::unique_ptr<Backend>> make_backend_of_hosts(const Options& options,
                                                       const Helpers& helpers, Model& model,
                                                       const Signals& signals, bool interactive) {
    remote::HostsOptions hosts;
    hosts.program = "auger " AUGER_VERSION;
    for (const remote::HostCommand& command : options.hosts)
        hosts.agents.push_back({command.name, [&command, &helpers] {
                                    return remote::start_agent(command.arguments,
                                                               helpers.starter.get());
                                }});
    if (options.host_bytes)
        hosts.bytes_per_second = options.host_bytes;
    hosts.open.samples = model.samples().capacity();
    hosts.open.slow_calls = Model::default_slow_calls;
    hosts.open.at_terminal = interactive;
    hosts.open.attach = static_cast<uint8_t>(options.live.attach);
    hosts.go_on = [&signals] { return !signals.pending(); };
    return remote::make_hosts_backend(hosts, model);
}

Result<std::unique_ptr<Backend>> make_backend(const Options& options, const Helpers& helpers,
                                              Model& model, const Signals& signals,
                                              bool interactive) {
    if (!options.replay.empty()) {
        ReplayOptions replay_options = options.replay_options;
        replay_options.readers = helpers.readers;
        return open_replay(options.replay, model, replay_options);
    }
    if (!options.hosts.empty())
        return make_backend_of_hosts(options, helpers, model, signals, interactive);
    LiveOptions live_options = options.live;
    live_options.readers = helpers.readers;
    live_options.starter = helpers.starter.get();
    live_options.give_up_rights = true;
    live_options.at_terminal = interactive;
    live_options.retention = [&model] {
        return Retention{model.samples().capacity(), Model::default_slow_calls};
    };
    live_options.go_on = [&signals] { return !signals.pending(); };
    auto live = make_live_backend(live_options, model);
    if (!live && live.error().kind == Error::Kind::unsupported) {
        auto unavailable =
            std::make_unique<UnavailableBackend>(live.error(), kernel_capabilities());
        if (!keep_capabilities(capabilities_to_keep(Work::observing)))
            return system_error("give up", "capabilities");
        return std::unique_ptr<Backend>(std::move(unavailable));
    }
    return live;
}

// Everything between the options and the exit code.
class Program {
  public:
    Program(const Options& options, Session& session, StreamOutput& output, Signals& signals,
            Guardian* guardian, ServiceManager& manager)
        : options_(options), session_(session), output_(output), signals_(signals),
          guardian_(guardian), manager_(manager) {}

    ExitCode run(bool interactive) {
        if (!run_lines(options_.setup))
            return code_;
        if (!interactive && session_.waits_for_target()) {
            const TargetSpec& target = session_.settings().target;
            check(Error{"observe", target.name,
                        "no process of that name" + condition_text(target) + " is running",
                        "start it first; or let the commands wait for it: target NAME; wait until "
                        "samples > 0",
                        Error::Kind::failed});
            return code_;
        }
        for (const Options::Script& script : options_.scripts) {
            if (over())
                break;
            if (!run_script(script) && !options_.keep_going)
                break;
        }
        // What failed in a script is a prompt's business; without one it is the end.
        if (interactive) {
            if (!over() && begins_with_picker())
                pick_target();
            if (!over() && ready_for_prompt()) {
                const bool view = begins_with_view();
                if (view)
                    sample_for_view();
                run_prompt(session_, output_, signals_, guardian_, view);
            }
        } else if (!failed_ || options_.keep_going) {
            if (!over() && options_.scripts.empty() && !options_.batch)
                note(run_stdin(session_, output_, signals_));
            if (!over() && (!failed_ || options_.keep_going)) {
                manager_.ready();
                check(session_.finish());
            }
        }
        manager_.stopping();
        check(session_.close());
        return code_;
    }

  private:
    // Where nothing at all was asked for.
    bool begins_with_picker() const {
        return options_.setup.empty() && options_.scripts.empty() && options_.replay.empty() &&
               options_.hosts.empty() && !options_.prompt && !options_.json && guardian_;
    }
    void pick_target() {
        const auto picked = pick_process(signals_, *guardian_);
        if (!picked)
            return; // a terminal that has no screen has a prompt
        if (*picked)
            run_lines(script_lines("", fmt::format("target {}", **picked)));
    }
    // Where there is something to see, and nothing else was asked for. A command that auger starts
    // has the terminal, too, and would write over the view.
    bool begins_with_view() const {
        const TargetSpec::Kind target = session_.settings().target.kind;
        return options_.scripts.empty() && !options_.prompt && !options_.json && guardian_ &&
               target != TargetSpec::Kind::command &&
               (target != TargetSpec::Kind::none || !options_.replay.empty());
    }
    // A view without samples shows nothing. Of a whole machine it is only what runs: that has more
    // waits than anybody wants to look at.
    void sample_for_view() {
        if (!session_.live())
            return;
        const bool everything = session_.settings().target.kind == TargetSpec::Kind::all;
        run_lines(script_lines("", everything ? "sample 499" : "sample wall 499"));
    }
    bool over() const { return session_.quitting() || signals_.stopping() || !output_.open(); }
    void note(std::optional<Error::Kind> kind) {
        if (!kind || std::exchange(failed_, true))
            return;
        code_ = exit_code(*kind);
    }
    bool check(const Result<void>& result) {
        if (result)
            return true;
        say(output_, options_.json, result.error());
        note(result.error().kind);
        return false;
    }
    bool run_lines(const std::vector<ScriptLine>& lines) {
        const auto kind = session_.run(lines);
        note(kind);
        return !kind;
    }
    bool run_script(const Options::Script& script) {
        if (!script.file)
            return run_lines(script_lines("-e", script.text));
        if (script.text == "-") {
            const auto kind = run_stdin(session_, output_, signals_);
            note(kind);
            return !kind;
        }
        auto text = read_script(script.text, signals_.wake_fd(), [this] {
            return signals_.stopping() || signals_.take_interrupt();
        });
        if (!text && signals_.stopping())
            return true;
        if (!text) {
            say(output_, options_.json, text.error());
            note(Error::Kind::usage); // of -f
            return false;
        }
        return run_lines(script_lines(script.text, *text));
    }
    bool ready_for_prompt() {
        if (auto ready = session_.before_prompt(); !ready) {
            say(output_, options_.json, ready.error());
            // A command that cannot be started leaves a prompt to choose another.
        }
        return !over();
    }

    const Options& options_;
    Session& session_;
    StreamOutput& output_;
    Signals& signals_;
    Guardian* guardian_; // null: no terminal
    ServiceManager& manager_;
    ExitCode code_ = ExitCode::ok;
    bool failed_ = false;
};

ExitCode run(const Options& options, bool input_closed) {
    ServiceManager manager;
    StreamOutput output;
    if (input_closed && options.scripts.empty() && !options.batch) {
        output.error("error: standard input is closed and no commands are given (-e, -f): nothing "
                     "to do\n");
        return ExitCode::usage;
    }
    const bool interactive = !options.batch && ::isatty(STDIN_FILENO);
    auto helpers = begin(options, interactive && ::isatty(STDOUT_FILENO));
    if (!helpers) {
        say(output, options.json, helpers.error());
        return ExitCode::failed;
    }
    auto signals = Signals::install();
    if (!signals) {
        say(output, options.json, signals.error());
        return ExitCode::failed;
    }
    Model model(options.store_samples);
    auto backend = make_backend(options, *helpers, model, **signals, interactive);
    if (!backend) {
        say(output, options.json, backend.error());
        return exit_code(backend.error().kind);
    }
    SessionOptions session_options;
    session_options.json = options.json;
    session_options.keep_going = options.keep_going;
    session_options.batch = !interactive;
    session_options.store_bytes = options.store_bytes;
    if (!interactive)
        session_options.settle = std::chrono::seconds(10);
    session_options.view = view_of_stdout();
    Session session(**backend, model, output, **signals, command_table(), session_options);
    Program program(options, session, output, **signals, helpers->guardian.get(), manager);
    ExitCode code = guarded([&] { return program.run(interactive); },
                            [&](const Error& error) {
                                say(output, options.json, error);
                                return ExitCode::failed;
                            });
    if (output.failure() != 0 && output.failure() != EPIPE) {
        output.error(
            fmt::format("error: write standard output: {}\n", std::strerror(output.failure())));
        if (code == ExitCode::ok)
            code = ExitCode::failed;
    }
    return code;
}

} // namespace
} // namespace auger

int main(int argc, char** argv) {
    const bool input_closed = auger::fill_closed_descriptors();
    // Only characters: a decimal comma would make the language depend on the user's country.
    std::setlocale(LC_CTYPE, "");
    const auto parsed = auger::parse_options(argc, argv);
    if (const auto* code = std::get_if<auger::ExitCode>(&parsed))
        return static_cast<int>(*code);
    const auger::Options& options = std::get<auger::Options>(parsed);
    return static_cast<int>(options.agent ? auger::run_agent(options)
                                          : auger::run(options, input_closed));
}
