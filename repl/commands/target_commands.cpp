// SPDX-License-Identifier: GPL-3.0-or-later
// What is observed: target, filter, exit (the way out of a function; alone, the way out of auger).
#include "repl/commands/table.h"

#include "repl/commands/thread_names.h"

#include <fmt/format.h>

namespace auger {
namespace {

bool number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789,") == std::string_view::npos;
}

// "1,2,3"
Parsed<std::vector<pid_t>> parse_pids(const Word& word, std::string_view what) {
    std::vector<pid_t> pids;
    for (size_t begin = 0; begin <= word.text.size();) {
        const size_t end = std::min(word.text.find(',', begin), word.text.size());
        auto pid = pid_of(std::string_view(word.text).substr(begin, end - begin), word.span, what);
        if (!pid)
            return pid.complaint();
        pids.push_back(*pid);
        begin = end + 1;
    }
    return pids;
}

Parsed<Command> parse_target(Arguments& arguments) {
    if (arguments.at_end())
        return Command(TargetCommand{});
    TargetSpec spec;
    if (arguments.take_if("off")) {
        spec.kind = TargetSpec::Kind::none;
    } else if (arguments.take_if("-a")) {
        spec.kind = TargetSpec::Kind::all;
    } else if (arguments.take_if("--")) {
        spec.kind = TargetSpec::Kind::command;
        if (arguments.at_end())
            return arguments.missing("a command");
        while (!arguments.at_end())
            spec.command.push_back(arguments.take().text);
    } else if (arguments.take_if("-n")) {
        auto name = arguments.expect("a name");
        if (!name)
            return name.complaint();
        spec.kind = TargetSpec::Kind::name;
        spec.name = name->text;
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
            (user ? spec.user : spec.cgroup) = word->text;
        }
    } else if (const bool option = arguments.take_if("-p");
               option || number(arguments.peek().text)) {
        spec.kind = TargetSpec::Kind::pids;
        if (arguments.at_end())
            return arguments.missing("a pid");
        while (!arguments.at_end()) {
            auto pids = parse_pids(arguments.take(), "pid");
            if (!pids)
                return pids.complaint();
            spec.pids.insert(spec.pids.end(), pids->begin(), pids->end());
        }
    } else {
        const Word& word = arguments.peek();
        if (!word.quoted && word.text.starts_with('-'))
            return Complaint{word.span, fmt::format("there is no option \"{}\"", word.text),
                             fmt::format("usage: {}", arguments.usage()), Error::Kind::usage};
        spec.kind = TargetSpec::Kind::name;
        spec.name = arguments.take().text;
    }
    if (spec.kind == TargetSpec::Kind::name && spec.name.empty())
        return arguments.missing("a name that is not empty");
    return Command(TargetCommand{std::move(spec)});
}

Parsed<Command> parse_filter(Arguments& arguments) {
    FilterCommand command;
    if (arguments.at_end())
        return Command(command);
    static const std::vector<std::string> kinds{"pid", "tid", "comm", "cgroup", "off"};
    auto kind = arguments.expect_choice("a kind of filter", kinds);
    if (!kind)
        return kind.complaint();
    if (kinds[*kind] == "off") {
        command.kind = FilterCommand::Kind::off;
        return Command(command);
    }
    constexpr FilterCommand::Kind order[]{FilterCommand::Kind::pid, FilterCommand::Kind::tid,
                                          FilterCommand::Kind::comm, FilterCommand::Kind::cgroup};
    command.kind = order[*kind];
    if (arguments.take_if("off"))
        return Command(command);
    if (arguments.at_end())
        return arguments.missing(fmt::format("a {}", kinds[*kind]));
    while (!arguments.at_end()) {
        const Word& word = arguments.take();
        if (word.text.empty())
            return Complaint{word.span, "an empty value matches nothing", "", Error::Kind::usage};
        if (command.kind == FilterCommand::Kind::comm) {
            if (auto fits = check_comm(word); !fits)
                return fits.complaint();
            command.values.comms.push_back(word.text);
        } else if (command.kind == FilterCommand::Kind::cgroup) {
            command.values.cgroups.push_back(word.text);
        } else {
            const bool tid = command.kind == FilterCommand::Kind::tid;
            auto ids = parse_pids(word, tid ? "tid" : "pid");
            if (!ids)
                return ids.complaint();
            auto& list = tid ? command.values.tids : command.values.pids;
            list.insert(list.end(), ids->begin(), ids->end());
        }
    }
    return Command(std::move(command));
}

Parsed<Command> parse_exit(Arguments& arguments) {
    if (arguments.at_end())
        return Command(QuitCommand{});
    static const std::vector<std::string> ways{"auto", "ret", "trampoline"};
    auto way = arguments.expect_choice("a way out", ways);
    if (!way)
        return way.complaint();
    constexpr WayOut order[]{WayOut::automatic, WayOut::ret, WayOut::trampoline};
    return Command(WayOutCommand{order[*way]});
}

} // namespace

std::vector<CommandRow> target_commands() {
    return {
        {"target",
         "",
         "What is observed",
         "target [PID[,PID...] | NAME | -p PID... | -n NAME [user USER] [cgroup CGROUP] | -a "
         "| -- COMMAND ARGS... | off]",
         "choose the processes to observe",
         "Threads and children that come later are included. -n takes processes of any user under\n"
         "that name, also those that come later; with `user` only those of one (real) user, by "
         "name\n"
         "or number, with `cgroup` only those in a control group or below it (a path, or a\n"
         "container, as `filter cgroup` has it): anybody may give a process any name. -a observes\n"
         "every process. A command given after -- is started by auger, stopped before its first\n"
         "instruction; it runs from the first `wait`, the prompt or the end of the commands on, "
         "so\n"
         "that probes set before miss nothing. Without an argument: shows what is observed. Quote "
         "a\n"
         "';' that belongs to the command's arguments.",
         "target 4711\ntarget nginx\ntarget -n nginx user www-data cgroup web-1\n"
         "target -- ./server --port 8080",
         {{.words = "-p -n -a -- off"}, {.file = true}, {.words = "user cgroup"}},
         parse_target},
        {"filter",
         "",
         "What is observed",
         "filter [pid ID... | tid ID... | comm NAME... | cgroup NAME... | off]",
         "count only some threads, processes or control groups",
         "Values of one kind are alternatives, and each kind given must match. A command replaces\n"
         "the values of its own kind; `filter tid off` drops one kind, `filter off` all. Nothing "
         "is\n"
         "detached and nothing collected is lost. A cgroup is a path, or a container: its name, or "
         "at\n"
         "least 4 characters of its id (with the groups below it that there are now).",
         "filter comm worker-1 worker-2\nfilter cgroup system.slice/nginx.service\nfilter cgroup "
         "web-1\nfilter off",
         {{.words = "pid tid comm cgroup off"}, {.words = "off"}},
         parse_filter},
        {"exit",
         "",
         "What is observed",
         "exit [auto | ret | trampoline]",
         "how a timed function's end is seen; without an argument, quit",
         "ret: a probe on every exit instruction; harmless whatever the target does. trampoline: "
         "a\n"
         "return probe; cheaper, but exceptions, Go and swapped stacks can kill the target under "
         "it.\n"
         "auto (the default) is trampoline where that is proven harmless, else ret, and says why: "
         "all\n"
         "code that the target maps has been read, nothing in it leaves its stack, and nothing "
         "brings\n"
         "further code (dlopen, a JIT). It goes back to ret when that changes, and is ret with -a "
         "and\n"
         "-n, whose processes come unread. Holds for probes added from now on.",
         "exit auto\nexit ret",
         {{.words = "auto ret trampoline"}, {}},
         parse_exit},
    };
}

} // namespace auger
