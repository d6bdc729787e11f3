// SPDX-License-Identifier: GPL-3.0-or-later
// filter: which threads, processes and control groups of the target count.
#include "repl/commands/commands.h"
#include "repl/language/thread_names.h"
#include "repl/session/edit_command.h"
#include "repl/session/session.h"
#include "repl/session/spelling.h"
#include "views/escape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace auger {
namespace {

void spell(const Settings& settings, std::vector<std::string>& lines) {
    const FilterSpec& filter = settings.filter;
    if (!filter.pids.empty())
        lines.push_back(spell_numbers("filter pid", filter.pids));
    if (!filter.tids.empty())
        lines.push_back(spell_numbers("filter tid", filter.tids));
    if (!filter.comms.empty())
        lines.push_back(spell_words("filter comm", filter.comms));
    if (!filter.cgroups.empty())
        lines.push_back(spell_words("filter cgroup", filter.cgroups));
}

constexpr SettingRow filter_setting{
    .order = SettingRow::Order::before_probes,
    .same = same_members<&Settings::filter>,
    .apply = [](const Settings& to, Backend& backend,
                Services&) { return backend.set_filter(to.filter); },
    .spell = spell,
};

struct ShowFilter final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        return Reply::message(fmt::format("filter: {}", filter_text(session.settings().filter)),
                              json_reply(place.name));
    }
};

struct SetFilter final : EditCommand {
    enum class Kind { pid, tid, comm, cgroup, all };
    Kind kind = Kind::all;
    FilterSpec values; // only of `kind`; empty: this kind no longer filters

    Parsed<void> edit(SettingsEdit& edit) const override {
        FilterSpec& filter = edit.settings.filter;
        switch (kind) {
        case Kind::pid:
            filter.pids = values.pids;
            break;
        case Kind::tid:
            filter.tids = values.tids;
            break;
        case Kind::comm:
            filter.comms = values.comms;
            break;
        case Kind::cgroup:
            filter.cgroups = values.cgroups;
            break;
        case Kind::all:
            filter = {};
            break;
        }
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        return fmt::format("filter: {}", filter_text(outcome.now.filter));
    }
};

// One value of the kind.
Parsed<void> add_value(const Word& word, SetFilter& command) {
    using Kind = SetFilter::Kind;
    if (word.text.empty())
        return Complaint{word.span, "an empty value matches nothing", "", Error::Kind::usage};
    if (command.kind == Kind::comm) {
        if (auto fits = check_comm(word); !fits)
            return fits.complaint();
        command.values.comms.push_back(word.text);
        return {};
    }
    if (command.kind == Kind::cgroup) {
        command.values.cgroups.push_back(word.text);
        return {};
    }
    const bool tid = command.kind == Kind::tid;
    auto ids = pids_of(word, tid ? "tid" : "pid");
    if (!ids)
        return ids.complaint();
    auto& list = tid ? command.values.tids : command.values.pids;
    list.insert(list.end(), ids->begin(), ids->end());
    return {};
}

Parsed<CommandPtr> parse_filter(Arguments& arguments) {
    if (arguments.at_end())
        return as_command(std::make_unique<ShowFilter>());
    auto command = std::make_unique<SetFilter>();
    static const std::vector<std::string> kinds{"pid", "tid", "comm", "cgroup", "off"};
    auto kind = arguments.expect_choice("a kind of filter", kinds);
    if (!kind)
        return kind.complaint();
    command->kind = static_cast<SetFilter::Kind>(*kind);
    if (command->kind == SetFilter::Kind::all || arguments.take_if("off"))
        return as_command(std::move(command));
    if (arguments.at_end())
        return arguments.missing(fmt::format("a {}", kinds[*kind]));
    while (!arguments.at_end()) {
        if (auto added = add_value(arguments.take(), *command); !added)
            return added.complaint();
    }
    return as_command(std::move(command));
}

} // namespace

CommandRow filter_command() {
    return {
        .name = "filter",
        .group = "What is observed",
        .usage = "filter [pid ID... | tid ID... | comm NAME... | cgroup NAME... | off]",
        .summary = "count only some threads, processes or control groups",
        .details = R"help(
Restricts what is counted to some threads, processes or control groups. Values of one kind are
alternatives; every kind that is given must match. A command replaces the values of its own kind:
`filter tid off` removes one kind, `filter off` all. Nothing is detached, and what was collected is
kept. A cgroup is a path, or a container: its name, or at least the first 4 characters of its id
(with the groups below it at that moment).)help",
        .examples = R"help(filter comm worker-1 worker-2
filter cgroup system.slice/nginx.service
filter cgroup web-1
filter off)help",
        .arguments = {{.words = "pid tid comm cgroup off"}, {.words = "off"}},
        .parse = parse_filter,
        .settings = {&filter_setting},
    };
}

} // namespace auger
