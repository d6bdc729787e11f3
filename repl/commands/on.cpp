// SPDX-License-Identifier: GPL-3.0-or-later
// on: what led to a slow call, or to a place, is kept as a recording.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/file_arguments.h"
#include "repl/session/edit_command.h"
#include "repl/session/spelling.h"
#include "views/escape.h"
#include "views/spell.h"

#include <fmt/format.h>

namespace auger {
namespace {

constexpr uint64_t longest_flight_ns = 600 * second_ns;

std::string describe(const Trigger& trigger, const ProbeSetting& probe) {
    const std::string name = escape_untrusted(probe.text);
    return fmt::format(
        "on {} recording the last {} to {}, at most one every {}; the latest {} stay",
        probe.slow.is_of_every_call()
            ? name
            : fmt::format("slow calls of {} > {}", name, spell_threshold(probe.slow)),
        spell_duration(trigger.span_ns), escape_untrusted(trigger.folder),
        spell_duration(trigger.rest_ns), trigger.keep);
}

void spell_triggers(const Settings& settings, std::vector<std::string>& lines) {
    for (const Trigger& trigger : settings.triggers) {
        const ProbeSetting* probe = settings.find(trigger.probe);
        const std::string name = spell_probe(probe->text);
        lines.push_back(
            fmt::format("on {} record last {} in {} every {} keep {}",
                        probe->slow.is_of_every_call()
                            ? "trace " + name
                            : fmt::format("slow {} > {}", name, spell_threshold(probe->slow)),
                        spell_duration(trigger.span_ns), spell_word(trigger.folder),
                        spell_duration(trigger.rest_ns), trigger.keep));
    }
}

constexpr SettingRow triggers_setting{
    .order = SettingRow::Order::with_probes,
    .same = same_members<&Settings::triggers>,
    .apply = [](const Settings& to, Backend&,
                Services& services) { return services.set_triggers(to.triggers); },
    .spell = spell_triggers,
    .end_without = [](Settings& settings, ProbeId probe) -> std::string {
        return end_trigger(settings, probe) ? "what it triggered has ended" : "";
    },
};

struct ShowTriggers final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        std::vector<std::string> lines;
        for (const Trigger& trigger : session.settings().triggers) {
            if (const ProbeSetting* probe = session.settings().find(trigger.probe))
                lines.push_back(describe(trigger, *probe));
        }
        if (lines.empty())
            lines.emplace_back("slow calls trigger nothing");
        return reply_lines(place.name, lines);
    }
};

struct EndTriggers final : EditCommand {
    std::optional<ProbeRef> probe; // nothing: all

    Parsed<void> edit(SettingsEdit& edit) const override {
        if (!probe) {
            edit.settings.triggers.clear();
            return {};
        }
        auto found = edit.existing(*probe);
        if (!found)
            return found.complaint();
        end_trigger(edit.settings, (*found)->id);
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        return probe ? fmt::format("slow calls of {} trigger nothing", probe_name(*outcome.probe))
                     : "slow calls trigger nothing";
    }
};

struct SetTrigger final : EditCommand {
    ProbeRef probe;
    Threshold threshold;
    Trigger trigger; // without the probe's id

    Parsed<void> edit(SettingsEdit& edit) const override {
        auto found = edit.find_or_add(probe);
        if (!found)
            return found.complaint();
        (*found)->slow = threshold;
        Trigger set = trigger;
        set.probe = (*found)->id;
        end_trigger(edit.settings, set.probe);
        edit.note_if_off(set.probe);
        edit.settings.triggers.push_back(std::move(set));
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        return describe(outcome.now.triggers.back(), *outcome.probe);
    }
};

// [in DIR] [every SPAN] [keep N]
Parsed<void> parse_options(Arguments& arguments, Trigger& trigger) {
    while (!arguments.at_end()) {
        if (arguments.take_if("in")) {
            auto folder = parse_path(arguments, "a folder");
            if (!folder)
                return folder.complaint();
            trigger.folder = std::move(*folder);
        } else if (arguments.take_if("every")) {
            auto rest = parse_span(arguments, "the time between two", second_ns, day_ns);
            if (!rest)
                return rest.complaint();
            trigger.rest_ns = *rest;
        } else if (arguments.take_if("keep")) {
            auto keep = parse_keep(arguments);
            if (!keep)
                return keep.complaint();
            trigger.keep = *keep;
        } else {
            break; // who asked complains of what is left
        }
    }
    return {};
}

Parsed<CommandPtr> parse_on(Arguments& arguments) {
    if (arguments.at_end())
        return as_command(std::make_unique<ShowTriggers>());
    if (arguments.take_if("off"))
        return as_command(std::make_unique<EndTriggers>());
    const bool every = arguments.take_if("trace");
    if (!every && !arguments.take_if("slow"))
        return Complaint{arguments.peek().span,
                         "only slow calls and traced probes trigger a recording",
                         fmt::format("usage: {}", arguments.usage()), Error::Kind::usage};
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    if (arguments.take_if("off")) {
        auto command = std::make_unique<EndTriggers>();
        command->probe = std::move(*probe);
        return as_command(std::move(command));
    }
    auto command = std::make_unique<SetTrigger>();
    command->probe = std::move(*probe);
    if (every) {
        command->threshold = every_call;
    } else {
        auto threshold = parse_threshold_value(arguments, command->probe);
        if (!threshold)
            return threshold.complaint();
        command->threshold = *threshold;
    }
    if (!arguments.take_if("record") || !arguments.take_if("last"))
        return arguments.missing("\"record last\" and how much");
    Trigger& trigger = command->trigger;
    auto span = parse_span(arguments, "what led to it", second_ns, longest_flight_ns);
    if (!span)
        return span.complaint();
    trigger.span_ns = *span;
    trigger.folder = ".";
    trigger.rest_ns = 60 * second_ns;
    trigger.keep = default_keep;
    if (auto options = parse_options(arguments, trigger); !options)
        return options.complaint();
    return as_command(std::move(command));
}

} // namespace

CommandRow on_command() {
    return {
        .name = "on",
        .group = "Files",
        .usage =
            "on slow PROBE > THRESHOLD record last SPAN [in DIR] [every SPAN] [keep N] | off   "
            "or   on trace PROBE record last SPAN ...",
        .summary = "keep what led to a slow call, or to a place in the program",
        .details = R"help(
A flight recorder: the last seconds of the event stream are kept in memory, and when a slow call of
PROBE has been traced they are written to DIR (default: the current folder) as slow-PROBE_TIME.auger,
for `auger --replay`. At most one every SPAN (default 60s); of those the latest N (default 60) are
kept. `on trace PROBE` does so when PROBE is called, or reached, at all: a USDT probe or a line that
tells that something went wrong. `on` alone lists what is set, `on slow PROBE off` ends one, `on off`
all.)help",
        .examples = R"help(on slow handle > 100ms record last 10s
on slow handle > p99.9 record last 30s in /var/lib/auger every 10m keep 20
on trace usdt:service:timeout record last 30s
on slow handle off)help",
        .arguments = {{.words = "slow trace off"},
                      probe_or_function,
                      {.words = "> record"},
                      {.words = threshold_words},
                      {.words = "record"},
                      {.words = "last"},
                      {.words = "10s 30s"},
                      {.words = "in every keep"},
                      {}},
        .parse = parse_on,
        .settings = {&triggers_setting},
    };
}

} // namespace auger
