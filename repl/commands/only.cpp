// SPDX-License-Identifier: GPL-3.0-or-later
// only: what of the samples and slow calls is kept, and which calls of a probe count.
#include "repl/commands/commands.h"
#include "repl/language/keep_condition.h"
#include "repl/language/probe_arguments.h"
#include "repl/language/sections.h"
#include "repl/session/edit_command.h"
#include "repl/session/session.h"
#include "repl/session/spelling.h"
#include "views/escape.h"
#include "views/spell.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

// Whether probes are named by numbers, which another session gives otherwise. (A condition from a
// recording is read for the first time here.)
bool has_numbers(const std::string& text) {
    const std::string line = "only " + text;
    const auto commands = lex(line);
    if (!commands || commands->size() != 1)
        return true;
    Arguments arguments(commands->front().words, line, "");
    const auto condition = parse_keep_condition(arguments);
    return !condition || std::ranges::any_of(condition->probes, [](const auto& probe) {
        return probe && probe->number;
    });
}

void spell_only(const Settings& settings, std::vector<std::string>& lines) {
    const OnlyInfo& only = settings.only;
    if (only.text.empty())
        return;
    if (!has_numbers(only.text))
        return lines.push_back("only " + only.text);
    std::string text = only.gate.empty() ? "" : spell_gate(settings, only.gate);
    const StackCondition& stacks = settings.kept_stacks;
    if (!only.line_clauses.empty())
        text += (text.empty() ? "" : " and ") + spell_clauses(only.line_clauses, [&](uint32_t i) {
                    return "at " + spell_word(only.lines[i]);
                });
    if (!stacks.empty())
        text += (text.empty() ? "" : " and ") + spell_clauses(stacks.clauses, [&](uint32_t i) {
                    return "in " + spell_word(stacks.functions[i]);
                });
    lines.push_back("only " + text);
}

constexpr SettingRow only_setting{
    .order = SettingRow::Order::with_probes,
    .same = same_members<&Settings::only, &Settings::kept_stacks>,
    .apply = [](const Settings& to, Backend& backend,
                Services&) { return backend.set_only(to.only); },
    .spell = spell_only,
    .end_without = [](Settings& settings, ProbeId probe) -> std::string {
        if (!needs_probe(settings.only.gate, probe))
            return {};
        settings.only = {};
        settings.kept_stacks = {};
        return "`only`, which needs it, has ended";
    },
};

struct ShowOnly final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        const std::string& text = session.settings().only.text;
        JsonObject object = json_reply(place.name);
        object["only"] = text.empty() ? JsonObject(nullptr) : JsonObject(escape_untrusted(text));
        JsonObject probes = JsonObject::object();
        std::string lines;
        for (const ProbeSetting& probe : session.settings().probes) {
            if (probe.conditions.only_if.empty())
                continue;
            const std::string name = escape_untrusted(probe.text),
                              predicate = escape_untrusted(probe.conditions.only_if);
            probes[name] = predicate;
            lines += fmt::format("only {} if {}\n", name, predicate);
        }
        object["probes"] = std::move(probes);
        Reply reply = Reply::message(text.empty() ? "everything is kept"
                                                  : fmt::format("only {}", escape_untrusted(text)),
                                     std::move(object));
        reply.text += lines;
        return reply;
    }
};

// only CONDITION | off
struct SetOnly final : EditCommand {
    std::optional<KeepCondition> condition; // else off

    Parsed<void> edit(SettingsEdit& edit) const override {
        OnlyInfo only;
        StackCondition stacks;
        if (condition) {
            auto gate = edit.resolved(*condition);
            if (!gate)
                return gate.complaint();
            only.text = condition->text;
            only.gate = std::move(*gate);
            only.lines = condition->lines;
            only.line_clauses = condition->line_clauses;
            stacks = condition->stacks;
            if (!only.lines.empty() && edit.settings.probes.empty())
                edit.add_note("until calls are timed (time, split), no line is seen in any");
        }
        edit.settings.only = std::move(only);
        edit.settings.kept_stacks = std::move(stacks);
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        if (condition)
            return fmt::format("only {}", escape_untrusted(outcome.now.only.text));
        return outcome.before.only.text.empty() ? "there was no `only`" : "everything is kept";
    }
};

// only PROBE if PREDICATE | off
struct OnlyCalls final : EditCommand {
    ProbeRef probe;
    std::string predicate; // empty: all count again

    Parsed<void> edit(SettingsEdit& edit) const override {
        auto found = predicate.empty() ? edit.existing(probe) : edit.find_or_add(probe);
        if (!found)
            return found.complaint();
        (*found)->conditions.only_if = predicate;
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        const std::string name = probe_name(*outcome.probe);
        return predicate.empty()
                   ? fmt::format("every call of {} counts", name)
                   : fmt::format("only calls of {} count if {}", name, escape_untrusted(predicate));
    }
};

Parsed<CommandPtr> parse_only_calls(Arguments& arguments) {
    auto command = std::make_unique<OnlyCalls>();
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    command->probe = std::move(*probe);
    constexpr std::string_view keywords[]{"if"};
    auto sections = parse_sections(arguments, keywords);
    if (!sections)
        return sections.complaint();
    if (sections->front().text == "off")
        return as_command(std::move(command));
    auto predicate = predicate_of(sections->front());
    if (!predicate)
        return predicate.complaint();
    command->predicate = std::move(*predicate);
    return as_command(std::move(command));
}

Parsed<CommandPtr> parse_only(Arguments& arguments) {
    if (arguments.at_end())
        return as_command(std::make_unique<ShowOnly>());
    auto command = std::make_unique<SetOnly>();
    if (arguments.left() == 1 && arguments.take_if("off"))
        return as_command(std::move(command));
    Arguments ahead = arguments;
    ahead.take();
    if (ahead.take_if("if"))
        return parse_only_calls(arguments);
    auto condition = parse_keep_condition(arguments);
    if (!condition)
        return condition.complaint();
    command->condition = std::move(*condition);
    return as_command(std::move(command));
}

} // namespace

CommandRow only_command() {
    return {
        .name = "only",
        .group = "Calls",
        .usage = "only [CONDITION | off]   or   only PROBE if PREDICATE | off",
        .summary = "keep only what happens in certain calls, threads or groups",
        .details = R"help(
CONDITION joins these by and, or, not and parentheses:
  PROBE > p95      in a call of it that has lasted longer by then
  in PROBE         in a call of it
  pid N, tid N, comm NAME, cgroup NAME
  at FILE:LINE     in a call that executes that line. Known when the call ends, so it is
                   joined with the others by `and` only; the call meant is the split's,
                   or without a split any timed one around.
  in py:FUNCTION   with that function on the stack, timed or not. py, java, js, php, rb and
                   perl name languages: py:app.handler, java:Orders.place, rb:Orders#total.
                   Known when stacks have names, so it is joined with the others by `and`
                   only.
Other samples and slow calls are not taken at all (but for lines and functions on stacks: those are
left out of views). `in=FUNCTION` is a class ("help classes") that asks the same of one view.
Counting and timing of calls goes on. `status` shows how many were left out.

only PROBE if PREDICATE: other calls of it do not count; entries = returns + unwound + open + dropped
+ filtered. "help expressions" explains predicates.)help",
        .examples = R"help(only handle > p95
only in handle and not (comm logger or tid 4711)
only at main.cc:1290
only in py:app.handler and not in py:app.log
only recv if arg2 > 4096 and ret < 0
only recv if off
only off)help",
        .arguments = {{.probe = true,
                       .function = true,
                       .words = "in pid tid comm cgroup at not off"},
                      {.probe = true, .function = true, .words = "> if off"},
                      {.probe = true,
                       .function = true,
                       .words = "and or not in pid tid comm cgroup at p95 p99 off"}},
        .parse = parse_only,
        .settings = {&only_setting},
    };
}

} // namespace auger
