// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/commands/tracing.h"

#include "repl/language/sections.h"
#include "views/escape.h"
#include "views/spell.h"

#include <fmt/format.h>

namespace auger {

Parsed<void> Tracing::edit(SettingsEdit& edit) const {
    auto found = off() ? edit.existing(probe) : edit.find_or_add(probe);
    if (!found)
        return found.complaint();
    ProbeSetting& traced = **found;
    traced.slow = threshold;
    traced.conditions.slow_if = traced_if;
    traced.conditions.show = show;
    traced.conditions.show_default = show_default;
    if (!off())
        edit.note_if_off(traced.id);
    else if (end_trigger(edit.settings, traced.id))
        edit.add_note("what it triggered has ended");
    return {};
}

std::string Tracing::told(const Session&, const EditOutcome& outcome) const {
    const std::string name = probe_name(*outcome.probe);
    if (off())
        return fmt::format("calls of {} are no longer traced", name);
    std::string text = threshold.is_of_every_call() ? fmt::format("tracing {}", name)
                                                    : fmt::format("tracing calls of {} > {}", name,
                                                                  spell_threshold(threshold));
    if (!traced_if.empty())
        text += " if " + escape_untrusted(traced_if);
    return text;
}

std::string Tracing::next_step(const ProbeSetting& made) const {
    return fmt::format("\"calls {}\" lists them", made.id.value);
}

namespace {

// `show EXPRESSION, ...` or `show off`.
Parsed<void> read_show(const Section& section, Tracing& command) {
    command.show_default = false;
    if (section.text == "off")
        return {};
    auto expressions = expressions_of(section);
    if (!expressions)
        return expressions.complaint();
    command.show = std::move(*expressions);
    return {};
}

// `[if PREDICATE] [show EXPRESSION, ...]`, up to the end.
Parsed<void> read_clauses(Arguments& arguments, Tracing& command) {
    constexpr std::string_view keywords[]{"if", "show"};
    auto sections = parse_sections(arguments, keywords);
    if (!sections)
        return sections.complaint();
    for (const Section& section : *sections) {
        if (section.keyword == "show") {
            if (auto read = read_show(section, command); !read)
                return read.complaint();
            continue;
        }
        auto predicate = predicate_of(section);
        if (!predicate)
            return predicate.complaint();
        command.traced_if = std::move(*predicate);
    }
    return {};
}

} // namespace

Parsed<CommandPtr> parse_tracing(Arguments& arguments, bool with_threshold) {
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    auto command = std::make_unique<Tracing>();
    command->probe = std::move(*probe);
    if (arguments.take_if("off"))
        return as_command(std::move(command));
    command->threshold = every_call;
    if (with_threshold) {
        auto threshold = parse_threshold_value(arguments, command->probe);
        if (!threshold)
            return threshold.complaint();
        command->threshold = *threshold;
    }
    if (auto read = read_clauses(arguments, *command); !read)
        return read.complaint();
    return as_command(std::move(command));
}

} // namespace auger
