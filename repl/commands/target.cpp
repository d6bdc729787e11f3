// SPDX-License-Identifier: GPL-3.0-or-later
// target: which processes are observed.
#include "loader/process/proc_info.h"
#include "repl/commands/commands.h"
#include "repl/language/thread_names.h"
#include "repl/session/edit_command.h"
#include "repl/session/presets.h"
#include "repl/session/session.h"
#include "repl/session/spelling.h"
#include "views/escape.h"
#include "views/spell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {
namespace {

constexpr size_t process_rows = 10;

std::string describe(const TargetSpec& target) {
    switch (target.kind) {
    case TargetSpec::Kind::pids:
        return fmt::format("{} {}{}", target.pids.size() == 1 ? "process" : "processes",
                           fmt::join(target.pids, ", "), target.tree ? " and all children" : "");
    case TargetSpec::Kind::name:
        return "processes named " + escape_untrusted(target.name + condition_text(target));
    case TargetSpec::Kind::all:
        return "every process";
    case TargetSpec::Kind::command:
        return fmt::format("command {}",
                           escape_untrusted(fmt::format("{}", fmt::join(target.command, " "))));
    case TargetSpec::Kind::none:
        break;
    }
    return "nothing";
}

std::string process_lines(const TargetStatus& status, size_t limit) {
    std::string out;
    size_t shown = 0;
    for (const auto& process : status.processes) {
        if (shown++ == limit) {
            out += fmt::format("  ... and {} more\n", status.processes.size() - limit);
            break;
        }
        out += fmt::format("  {} {}", process.pid, escape_untrusted(process.comm));
        if (!process.user.empty())
            out += fmt::format(" ({})", escape_untrusted(process.user));
        if (!process.machine.empty())
            out += " on " + escape_untrusted(process.machine);
        if (!process.running)
            out += fmt::format("  {}",
                               process.exit.empty() ? "ended" : escape_untrusted(process.exit));
        out += '\n';
    }
    return out;
}

JsonObject json_target(const TargetStatus& status) {
    JsonObject processes = JsonObject::array();
    for (const auto& process : status.processes) {
        processes.push_back({{"pid", process.pid},
                             {"comm", escape_untrusted(process.comm)},
                             {"user", escape_untrusted(process.user)},
                             {"running", process.running},
                             {"exit", escape_untrusted(process.exit)}});
        if (!process.machine.empty()) // of several
            processes.back()["machine"] = escape_untrusted(process.machine);
    }
    return processes;
}

void spell_target(const Settings& settings, std::vector<std::string>& lines) {
    const TargetSpec& target = settings.target;
    switch (target.kind) {
    case TargetSpec::Kind::pids:
        return lines.push_back(spell_numbers("target -p", target.pids) +
                               (target.tree ? " --tree" : ""));
    case TargetSpec::Kind::name:
        return lines.push_back(
            "target -n " + spell_word(target.name) +
            (target.user.empty() ? "" : " user " + spell_word(target.user)) +
            (target.cgroup.empty() ? "" : " cgroup " + spell_word(target.cgroup)));
    case TargetSpec::Kind::all:
        return lines.push_back("target -a");
    case TargetSpec::Kind::command:
        return lines.push_back(spell_words("target --", target.command));
    case TargetSpec::Kind::none:
        break;
    }
}

constexpr SettingRow target_setting{
    .order = SettingRow::Order::before_probes,
    .same = same_members<&Settings::target>,
    .apply = [](const Settings& to, Backend& backend,
                Services&) { return backend.set_target(to.target); },
    .spell = spell_target,
};

// Children that start later are observed; those that ran before are not.
size_t children_left_out(const Session& session, const TargetStatus& status) {
    if (status.spec.kind != TargetSpec::Kind::pids || session.backend().replaying() ||
        !session.backend().hosts().empty()) // whose /proc is not here
        return 0;
    std::vector<pid_t> left = descendants_of(status.spec.pids);
    std::erase_if(left, [&](pid_t pid) {
        return std::ranges::find(status.processes, pid, &TargetStatus::Process::pid) !=
               status.processes.end();
    });
    return left.size();
}

struct ShowTarget final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        const TargetStatus status = session.backend().target_status();
        const std::string target = describe(session.settings().target);
        JsonObject object = json_reply(place.name);
        object["target"] = target;
        object["processes"] = json_target(status);
        Reply reply = Reply::message(
            fmt::format("target: {}", session.backend().replaying() ? "a recording" : target),
            std::move(object));
        reply.text += process_lines(status, process_rows);
        return reply;
    }
};

struct SetTarget final : EditCommand {
    TargetSpec target;

    Parsed<void> edit(SettingsEdit& edit) const override {
        edit.settings.target = target;
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        return fmt::format("target: {}", describe(outcome.now.target));
    }
    void add_details(const Session& session, JsonObject& object,
                     std::string& lines) const override {
        const TargetStatus status = session.backend().target_status();
        object["processes"] = json_target(status);
        if (const size_t left = children_left_out(session, status); left > 0)
            lines += fmt::format(
                "  {} running {} left out: \"target -p {} --tree\" takes them, too\n", left,
                left == 1 ? "child is" : "children are", fmt::join(status.spec.pids, " "));
        lines += session.waits_for_target()
                     ? fmt::format("  no process named {} is running; those that start will be "
                                   "observed\n",
                                   escape_untrusted(status.spec.name + condition_text(status.spec)))
                     : process_lines(status, process_rows);
        if (const std::string advice = span_advice(status); !advice.empty())
            lines += fmt::format("  {}\n", advice);
    }
};

bool number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789,") == std::string_view::npos;
}

// `-n NAME [user USER] [cgroup CGROUP]`, behind -n.
Parsed<TargetSpec> parse_name(Arguments& arguments) {
    auto name = arguments.expect("a name");
    if (!name)
        return name.complaint();
    TargetSpec target;
    target.kind = TargetSpec::Kind::name;
    target.name = name->text;
    while (!arguments.at_end()) {
        const bool user = arguments.take_if("user");
        if (!user && !arguments.take_if("cgroup"))
            break;
        auto word = arguments.expect(user ? "a user" : "a cgroup");
        if (!word)
            return word.complaint();
        if (word->text.empty())
            return Complaint{word->span,
                             user ? "a user has a name or a number"
                                  : "a cgroup is a path, or a container's name or id",
                             "", Error::Kind::usage};
        (user ? target.user : target.cgroup) = word->text;
    }
    return target;
}

Parsed<TargetSpec> parse_pids(Arguments& arguments) {
    TargetSpec target;
    target.kind = TargetSpec::Kind::pids;
    if (arguments.at_end())
        return arguments.missing("a pid");
    while (!arguments.at_end()) {
        if (arguments.take_if("--tree")) {
            target.tree = true;
            continue;
        }
        auto pids = pids_of(arguments.take(), "pid");
        if (!pids)
            return pids.complaint();
        target.pids.insert(target.pids.end(), pids->begin(), pids->end());
    }
    if (target.pids.empty())
        return arguments.missing("a pid");
    return target;
}

Parsed<TargetSpec> parse_spec(Arguments& arguments) {
    TargetSpec target;
    if (arguments.take_if("off"))
        return target;
    if (arguments.take_if("-a")) {
        target.kind = TargetSpec::Kind::all;
        return target;
    }
    if (arguments.take_if("--")) {
        target.kind = TargetSpec::Kind::command;
        if (arguments.at_end())
            return arguments.missing("a command");
        while (!arguments.at_end())
            target.command.push_back(arguments.take().text);
        return target;
    }
    if (arguments.take_if("-n"))
        return parse_name(arguments);
    if (arguments.take_if("-p") || number(arguments.peek().text))
        return parse_pids(arguments);
    const Word& word = arguments.peek();
    if (!word.quoted && word.text.starts_with('-'))
        return Complaint{word.span, fmt::format("there is no option \"{}\"", word.text),
                         fmt::format("usage: {}", arguments.usage()), Error::Kind::usage};
    target.kind = TargetSpec::Kind::name;
    target.name = arguments.take().text;
    return target;
}

Parsed<CommandPtr> parse_target(Arguments& arguments) {
    if (arguments.at_end())
        return as_command(std::make_unique<ShowTarget>());
    auto target = parse_spec(arguments);
    if (!target)
        return target.complaint();
    if (target->kind == TargetSpec::Kind::name && target->name.empty())
        return arguments.missing("a name that is not empty");
    auto command = std::make_unique<SetTarget>();
    command->target = std::move(*target);
    return as_command(std::move(command));
}

} // namespace

CommandRow target_command() {
    return {
        .name = "target",
        .group = "What is observed",
        .usage = "target [PID[,PID...] [--tree] | NAME | -p PID... | -n NAME [user USER] [cgroup "
                 "CGROUP] | "
                 "-a | -- COMMAND ARGS... | off]",
        .summary = "choose the processes to observe",
        .details = R"help(
Observes processes with all of their threads, and children that start later; with --tree also those
that run already (a server's workers). NAME (or -n NAME)
means processes of that name, or whose executable has it as its base name, of any user, including
processes that start later. Anybody may give a process any name: `user` narrows it down to one
(real) user, by name or number, `cgroup` to a control group and those below it (a path, or a
container's name or id). -a observes every process.

A command after -- is started by auger and stopped before its first instruction. It runs from the
first `wait`, the prompt, or the end of the commands on, so that probes set before miss nothing.
With --batch, a command that shows what was collected (`hist`, `flame`, `functions` ...) before any
`wait` runs it to its end first. `time --dry-run` does not start it.
Quote a ';' that belongs to the command.

Without arguments, shows what is observed.)help",
        .examples = R"help(target 4711
target 4711 --tree
target nginx
target -n nginx user www-data cgroup web-1
target -- ./server --port 8080)help",
        .arguments = {{.words = "-p -n -a -- off"},
                      {.file = true},
                      {.words = "user cgroup --tree"}},
        .parse = parse_target,
        .settings = {&target_setting},
    };
}

} // namespace auger
