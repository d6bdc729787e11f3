// SPDX-License-Identifier: GPL-3.0-or-later
// slow: calls that take longer are traced.
#include "repl/commands/commands.h"
#include "repl/language/probe_arguments.h"
#include "repl/language/sections.h"
#include "repl/session/edit_command.h"
#include "views/escape.h"
#include "views/spell.h"

#include <fmt/format.h>

namespace auger {
namespace {

struct Slow final : EditCommand {
    ProbeRef probe;
    Threshold threshold; // kind none: off
    std::string slow_if; // predicate, as typed; empty: none
    std::vector<std::string> show;
    bool show_default = true;

    bool off() const { return threshold.kind == Threshold::Kind::none; }

    Parsed<void> edit(SettingsEdit& edit) const override {
        auto found = off() ? edit.existing(probe) : edit.find_or_add(probe);
        if (!found)
            return found.complaint();
        ProbeSetting& traced = **found;
        traced.slow = threshold;
        traced.conditions.slow_if = slow_if;
        traced.conditions.show = show;
        traced.conditions.show_default = show_default;
        if (!off())
            edit.note_if_off(traced.id);
        else if (end_trigger(edit.settings, traced.id))
            edit.add_note("what it triggered has ended");
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        const std::string name = probe_name(*outcome.probe);
        if (off())
            return fmt::format("slow calls of {} are no longer traced", name);
        std::string text =
            fmt::format("tracing calls of {} > {}", name, spell_threshold(threshold));
        if (!slow_if.empty())
            text += " if " + escape_untrusted(slow_if);
        return text;
    }
    const ProbeRef* makes() const override { return &probe; }
    std::string next_step(const ProbeSetting& made) const override {
        return fmt::format("\"calls {}\" lists them", made.id.value);
    }
};

// `show EXPRESSION, ...` or `show off`.
Parsed<void> read_show(const Section& section, Slow& command) {
    command.show_default = false;
    if (section.text == "off")
        return {};
    auto expressions = expressions_of(section);
    if (!expressions)
        return expressions.complaint();
    command.show = std::move(*expressions);
    return {};
}

Parsed<CommandPtr> parse_slow(Arguments& arguments) {
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    auto command = std::make_unique<Slow>();
    command->probe = std::move(*probe);
    if (arguments.take_if("off"))
        return as_command(std::move(command));
    auto threshold = parse_threshold_value(arguments, command->probe);
    if (!threshold)
        return threshold.complaint();
    command->threshold = *threshold;
    constexpr std::string_view keywords[]{"if", "show"};
    auto sections = parse_sections(arguments, keywords);
    if (!sections)
        return sections.complaint();
    for (const Section& section : *sections) {
        if (section.keyword == "show") {
            if (auto read = read_show(section, *command); !read)
                return read.complaint();
            continue;
        }
        auto predicate = predicate_of(section);
        if (!predicate)
            return predicate.complaint();
        command->slow_if = std::move(*predicate);
    }
    return as_command(std::move(command));
}

} // namespace

CommandRow slow_command() {
    return {
        .name = "slow",
        .group = "Calls",
        .usage = "slow PROBE > DURATION | PERCENTILE [if PREDICATE] [show EXPRESSION, ...]   or   "
                 "slow PROBE off",
        .summary = "trace the calls that take longer, with stack, thread and values",
        .details = R"help(
Traces calls that take longer than the threshold; `calls` lists them. A percentile follows the
function's own recent calls. Times the function if it is not timed yet; on a timed one it edits the
threshold and leaves everything attached.

`if PREDICATE` traces only calls for which it holds. `show` chooses the values that are recorded:
without it, parameters and result as far as they are known, and the ids of trace and span where the
program shares them; with `show off`, none. "help expressions" explains both.)help",
        .examples = R"help(slow handle > 5ms
slow libc:recv > p99
slow recv@main.cc:1312 > 1ms
slow recv > 1ms if arg2 > 4096 and ret < 0 show arg0, arg2, ret, errno
slow parse > 1ms show *(u32 *)(arg0 + 8), req->items[i], str(req->name)
slow handle off)help",
        .arguments = {probe_or_function,
                      {.words = "> off"},
                      {.words = threshold_words},
                      {.words = "if show"},
                      {.words = "arg0 arg1 arg2 ret errno trace span_id off"},
                      {.words = "and or not show"}},
        .parse = parse_slow,
    };
}

} // namespace auger
