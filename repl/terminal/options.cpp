// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/terminal/options.h"

#include "loader/recording/format.h"
#include "repl/commands/bash_completion.h"
#include "repl/commands/manual_page.h"
#include "repl/commands/reference_page.h"
#include "repl/commit.h"
#include "repl/language/lexer.h"
#include "repl/language/recorded_time.h"
#include "repl/language/script.h"
#include "repl/session/reply.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace auger {
namespace {

constexpr const char* version = "auger " AUGER_VERSION;

// What --version says: what is needed to report a defect, and what can be relied on.
std::string build_text() {
    std::string text = fmt::format("{}\n", version);
    if (constexpr std::string_view commit = AUGER_COMMIT; !commit.empty())
        text += fmt::format("commit: {}\n", commit);
    return text + fmt::format("recordings: format {}, and those from {} on\n"
                              "JSON: schema {}\n"
                              "built with: {}\n",
                              recording::version, recording::oldest_version, json_schema,
                              AUGER_LIBRARIES);
}

constexpr const char* usage_line =
    "auger [-H HOST[,HOST...]] [-p PID[,PID...] | -n NAME | -a | -- COMMAND ARGS...] [OPTIONS]";

constexpr const char* footer = R"(
Commands of -f and -e run in the order given; each option may be given several times, and "-f -"
reads standard input. Without --batch the prompt follows when standard input is a terminal; without
-f and -e, and no terminal, commands are read from standard input.

On a terminal, auger alone lists processes to choose from. -p, -n, -a or --replay alone open the
live view ("view" at the prompt does, too).

A COMMAND given after -- is started by auger, stopped before its first instruction. It runs from the
first "wait", the prompt or the end of the commands on, so that probes set before miss nothing. When
commands never wait, auger runs it to its end before it shows what was collected, and ends with it.

With -H or --hosts, auger starts "auger --agent" on each host, over your own ssh ("sudo -n auger
--agent" has to work there without a question) or what --via says, and ends it when it ends. Nothing
listens, nothing is copied there. "auger --agent -H HOST..." relays those hosts to a console.

Exit codes: 0 all well; 1 a command or an assert failed; 2 wrong usage; 3 a missing privilege or
kernel feature.

"auger -e help --batch" lists the commands.)";

ScriptLine command(std::string option, std::string text) {
    return {std::move(option), 1, std::move(text)};
}

// Of the app, but for those that make documents.
std::vector<ProgramOption> options_of(const CLI::App& app) {
    std::vector<ProgramOption> options;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty())
            continue;
        const bool is_flag = option->get_type_size() == 0;
        // "PID[,PID...]:{...}": what is checked stands behind the type.
        std::string type = is_flag ? "" : option->get_type_name();
        type.resize(std::min(type.find(':'), type.size()));
        options.push_back({option->get_name(false, true), type, option->get_description()});
    }
    return options;
}

// "ADDRESS [token FILE | for USER]", whatever else they hold, is no more than that.
std::string serve_command(const std::string& text) {
    for (const std::string_view keyword : {" token ", " for "})
        if (const size_t at = text.find(keyword); at != std::string::npos)
            return "serve " + quote_word(text.substr(0, at)) + std::string(keyword) +
                   quote_word(text.substr(at + keyword.size()));
    return "serve " + quote_word(text);
}

// Of an option that was given; what is wrong with it has been said.
bool read_time(const char* option, const std::string& text, std::optional<RecordedTime>& time) {
    if (text.empty())
        return true;
    auto parsed = parse_recorded_time(text);
    if (parsed)
        time = *parsed;
    else
        fmt::print(stderr, "{}", Diagnostic{{option, 1, text}, parsed.complaint()}.render());
    return parsed.ok();
}

// Of -H and --hosts.
Result<std::vector<remote::HostCommand>> hosts_of(std::vector<std::string> hosts,
                                                  const std::string& file, const std::string& via) {
    if (!file.empty()) {
        auto text = read_script(file, -1, [] { return false; });
        if (!text)
            return text.error();
        auto more = remote::hosts_in(*text, file);
        if (!more)
            return more.error();
        hosts.insert(hosts.end(), more->begin(), more->end());
    }
    return remote::host_commands(hosts, via);
}

} // namespace

std::variant<Options, ExitCode> parse_options(int argc, char** argv) {
    // Everything behind "--" belongs to the target's command.
    const std::vector<std::string> all(argv + std::min(argc, 1), argv + argc);
    const auto dashes = std::find(all.begin(), all.end(), "--");
    std::vector<std::string> own(all.begin(), dashes);
    std::reverse(own.begin(), own.end()); // as CLI11 takes them
    std::vector<std::string> target_command;
    if (dashes != all.end())
        target_command.assign(dashes + 1, all.end());

    Options options;
    std::vector<std::string> pids, files, texts, serve, hosts, ship;
    std::string name, user, cgroup, record, exit, attach, overhead, hosts_file, via;
    bool everything = false, tree = false;
    CLI::App app("Find the cause of slow calls in running programs.",
                 "auger [-H HOST[,HOST...]] [-p PID[,PID...] | -n NAME | -a | -- COMMAND ARGS...]");
    app.footer(footer);
    app.set_version_flag("--version", version);
    auto* pid_option = app.add_option("-p,--pid", pids, "Observe these processes")
                           ->type_name("PID[,PID...]")
                           ->expected(1);
    pid_option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    auto* tree_option =
        app.add_flag("--tree", tree, "With -p: the children that they have already, too");
    auto* name_option =
        app.add_option("-n,--name", name, "Observe the processes of this name")->type_name("NAME");
    auto* user_option =
        app.add_option("--user", user, "With -n: only processes of this user, by name or number")
            ->type_name("USER");
    auto* cgroup_option = app.add_option("--cgroup", cgroup,
                                         "With -n: only processes in this control group (a path, "
                                         "or a container's name or id) or below it")
                              ->type_name("CGROUP");
    app.add_flag("-a,--all", everything, "Observe every process");
    auto* host_option =
        app.add_option("-H,--host", hosts,
                       "Observe these machines instead of this one, by an agent that is started "
                       "over ssh: web1, user@web1, ssh://user@web1:2222")
            ->type_name("HOST[,HOST...]")
            ->expected(1);
    host_option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    auto* hosts_option = app.add_option("--hosts", hosts_file,
                                        "Likewise those of a file, one a line; # begins a "
                                        "comment")
                             ->type_name("FILE");
    auto* via_option =
        app.add_option("--via", via,
                       "With -H: start each agent by this command of the shell, where {} stands "
                       "for the host, as \"podman exec -i {} auger --agent\"")
            ->type_name("COMMAND");
    auto* bwlimit_option =
        app.add_option("--bwlimit", options.host_bytes,
                       "With -H: read no more than so many bytes a second of each host, as 500k or "
                       "20M (default 8M); samples beyond are left out there, and counted")
            ->type_name("SIZE")
            ->transform(CLI::AsSizeValue(false))
            ->check(CLI::Range(uint64_t{10} << 10, uint64_t{1} << 40));
    app.add_flag("--agent", options.agent,
                 "Observe this machine for a console, over standard input and output; auger -H "
                 "starts it. With -H: those machines, as a relay");
    auto* file_option = app.add_option("-f,--file", files, "Run the commands of a file")
                            ->type_name("FILE")
                            ->expected(1);
    file_option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    auto* text_option =
        app.add_option("-e,--execute", texts, "Run commands")->type_name("COMMANDS")->expected(1);
    text_option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_flag("--batch", options.batch, "End after the commands: no prompt");
    app.add_flag("--json", options.json, "Answer with one JSON object a line");
    app.add_flag("--keep-going", options.keep_going, "Go on after a command that failed");
    app.add_flag("--prompt", options.prompt, "Begin at the prompt instead of the live view");
    auto* record_option =
        app.add_option("--record", record, "Write the event stream to a file")->type_name("FILE");
    auto* replay_option =
        app.add_option("--replay", options.replay,
                       "Read a recording instead of the kernel, or all of a folder; several, of "
                       "several machines, are shown as one")
            ->type_name("PATH")
            ->expected(1);
    replay_option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    std::string from, to;
    app.add_option("--from", from,
                   "Of recordings only what is from this time on: 2026-11-21T23:20 (or with Z), "
                   "23:20, -15m (before their end), +10m (after their beginning)")
        ->type_name("TIME");
    app.add_option("--to", to, "Likewise up to this time")->type_name("TIME");
    app.add_option("--probe", options.replay_options.selection.probe,
                   "Leave out recordings in which nothing happened to this probe")
        ->type_name("PROBE");
    auto* sysroot_option =
        app.add_option(
               "--sysroot", options.replay_options.sysroot,
               "Find names that the recording lacks in files below this folder, by path and "
               "build id")
            ->type_name("DIR");
    auto* speed_option =
        app.add_option("--speed", options.replay_options.speed,
                       "Play the recording at its own speed (1) or another; without it, at once")
            ->type_name("N")
            ->check(CLI::Range(0.01, 10'000.0));
    auto* serve_option =
        app.add_option("--serve", serve,
                       "Answer requests for samples by HTTP; also from AUGER_SERVE: \"unix:PATH "
                       "[for USER]\" or \"127.0.0.1:PORT [token FILE]\"")
            ->type_name("ADDRESS")
            ->envname("AUGER_SERVE")
            ->expected(1);
    serve_option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--ship", ship,
                   "Send profiles of each interval to an engine that stores them, as \"otlp "
                   "http://collector:4318 every 10s\" (help ship); may be given several times")
        ->type_name("RECEIVER")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--exit", exit,
                   "How exits of functions are seen: auto, cheap, ret or trampoline")
        ->type_name("WAY");
    app.add_option("--overhead", overhead,
                   "How much of the target's CPU time observing may take, in percent (default 50); "
                   "off: any, but it is said")
        ->type_name("PERCENT");
    app.add_option("--attach", attach, "How probes are attached: auto, multi or perf")
        ->type_name("WAY")
        ->check(CLI::IsMember({"auto", "multi", "perf"}));
    app.add_flag("--debuginfod", options.live.debuginfod,
                 "Fetch debug information that is not on this machine, by build id, from the "
                 "servers of DEBUGINFOD_URLS: they learn what is observed, and as root their "
                 "files are kept and read as root");
    app.add_option("--store-samples", options.store_samples,
                   fmt::format("Samples kept; the oldest go first (default {})",
                               SampleStore::default_capacity))
        ->type_name("N")
        ->check(CLI::Range(size_t{1'000}, size_t{1'000'000'000}));
    app.add_option("--store-memory", options.store_bytes,
                   "Memory for samples, calls, stacks and names, as 512M or 2G (default 1G): no "
                   "more samples are kept than fit")
        ->type_name("SIZE")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(uint64_t{1} << 20, uint64_t{1} << 50));
    // For packages; the hidden group.
    auto* manual_option = app.add_flag("--manual-page")->group("");
    auto* completion_option = app.add_flag("--bash-completion")->group("");
    auto* reference_option = app.add_flag("--reference")->group("");

    const auto usage = [&options](const std::string& message, const char* hint) {
        // Of a relay's agent a console shows the last line.
        fmt::print(stderr, "auger: {}\n{}", printable(message), options.agent ? "" : hint);
        return ExitCode::usage;
    };
    constexpr const char* see_help = "auger --help says more\n";
    constexpr const char* no_agent = "--agent takes no other option than those of hosts that it is "
                                     "to relay: all that is to be done is said by the console";
    try {
        app.parse(own);
    } catch (const CLI::CallForHelp&) {
        fmt::print("{}", app.help());
        return ExitCode::ok;
    } catch (const CLI::CallForVersion&) {
        fmt::print("{}", build_text());
        return ExitCode::ok;
    } catch (const CLI::ParseError& error) {
        return usage(error.what(), see_help);
    }

    if (manual_option->count() > 0) {
        fmt::print("{}", manual_page(version, usage_line, options_of(app), footer + 1));
        return ExitCode::ok;
    }
    if (completion_option->count() > 0) {
        fmt::print("{}", bash_completion(options_of(app)));
        return ExitCode::ok;
    }
    if (reference_option->count() > 0) {
        fmt::print("{}", reference_page(usage_line, options_of(app)));
        return ExitCode::ok;
    }
    const bool has_command = dashes != all.end();
    if (options.agent) {
        // Not what the environment says.
        for (const std::string& word : all)
            if (word == "--" || word.starts_with("--serve"))
                return usage(no_agent, see_help);
        constexpr std::array relaying{"--agent", "--host", "--hosts", "--via", "--bwlimit"};
        for (const CLI::Option* option : app.get_options())
            if (option->count() > 0 && option != serve_option &&
                std::ranges::find(relaying, option->get_name()) == relaying.end())
                return usage(no_agent, see_help);
    }
    const int targets = !pids.empty() + (name_option->count() > 0) + everything + has_command;
    if (targets > 1)
        return usage("only one of -p, -n, -a and -- COMMAND makes sense", see_help);
    if (tree_option->count() > 0 && pids.empty())
        return usage("--tree is for the children of processes: it needs -p", see_help);
    if (user_option->count() > 0 && name_option->count() == 0)
        return usage("--user is for the processes of a name: it needs -n", see_help);
    if (cgroup_option->count() > 0 && name_option->count() == 0)
        return usage("--cgroup is for the processes of a name: it needs -n", see_help);
    if (has_command && target_command.empty())
        return usage("a command is missing after --", see_help);
    if (replay_option->count() > 0) {
        if (std::ranges::count(options.replay, std::string()) > 0)
            return usage("--replay needs a file", see_help);
        for (const char* other : {"--record", "--exit", "--attach", "--overhead", "--debuginfod"}) {
            if (app.count(other) > 0)
                return usage(fmt::format("{} makes no sense with --replay", other), see_help);
        }
        if (targets > 0)
            return usage("a recording has its own target: none can be given with --replay",
                         see_help);
    }

    for (const char* part : {"--from", "--to", "--probe"})
        if (app.count(part) > 0 && options.replay.empty())
            return usage(
                fmt::format("{} says what is wanted of recordings: it needs --replay", part),
                see_help);
    if (!read_time("--from", from, options.replay_options.selection.from) ||
        !read_time("--to", to, options.replay_options.selection.to))
        return ExitCode::usage;
    if (host_option->count() + hosts_option->count() > 0) {
        for (const char* other : {"--replay", "--debuginfod"})
            if (app.count(other) > 0)
                return usage(fmt::format("{} makes no sense with -H", other), see_help);
        if (has_command)
            return usage("a command is started on this machine: -H takes -n, -p or -a", see_help);
        auto commands = hosts_of(hosts, hosts_file, via);
        if (!commands)
            return usage(commands.error().message(), see_help);
        options.hosts = std::move(*commands);
    } else if (via_option->count() > 0) {
        return usage("--via is how hosts are reached: it needs -H or --hosts", see_help);
    } else if (bwlimit_option->count() > 0) {
        return usage("--bwlimit is for what hosts send: it needs -H or --hosts", see_help);
    }
    if (options.agent)
        return options;
    if (speed_option->count() > 0 && options.replay.empty())
        return usage("--speed is that of a recording: it needs --replay", see_help);
    if (sysroot_option->count() > 0 && options.replay_options.sysroot.empty())
        return usage("--sysroot needs a folder", see_help);
    if (sysroot_option->count() > 0 && options.replay.empty())
        return usage("--sysroot is for names of a recording: it needs --replay", see_help);

    options.live.attach = attach == "multi"  ? LiveOptions::Attach::multi
                          : attach == "perf" ? LiveOptions::Attach::perf
                                             : LiveOptions::Attach::automatic;
    if (app.count("--exit") > 0)
        options.setup.push_back(command("--exit", "exit " + quote_word(exit)));
    if (app.count("--overhead") > 0)
        options.setup.push_back(command(
            "--overhead", "overhead " + (overhead == "off" ? "off" : quote_word(overhead))));
    if (record_option->count() > 0)
        options.setup.push_back(command("--record", "record " + quote_word(record)));
    if (!pids.empty()) {
        std::string text = "target -p";
        for (const std::string& pid : pids)
            text += " " + quote_word(pid);
        if (tree)
            text += " --tree";
        options.setup.push_back(command("-p", text));
    }
    if (name_option->count() > 0)
        options.setup.push_back(
            command("-n", "target -n " + quote_word(name) +
                              (user_option->count() > 0 ? " user " + quote_word(user) : "") +
                              (cgroup_option->count() > 0 ? " cgroup " + quote_word(cgroup) : "")));
    if (everything)
        options.setup.push_back(command("-a", "target -a"));
    if (has_command) {
        std::string text = "target --";
        for (const std::string& word : target_command)
            text += " " + quote_word(word);
        options.setup.push_back(command("--", text));
    }
    for (const std::string& text : serve)
        options.setup.push_back(command("--serve", serve_command(text)));
    for (const std::string& receiver : ship)
        options.setup.push_back(command("--ship", "ship " + receiver));
    size_t file = 0, text = 0;
    for (const CLI::Option* option : app.parse_order()) {
        if (option == file_option)
            options.scripts.push_back({true, files[file++]});
        else if (option == text_option)
            options.scripts.push_back({false, texts[text++]});
    }
    return options;
}

} // namespace auger
