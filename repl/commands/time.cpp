// SPDX-License-Identifier: GPL-3.0-or-later
// time: the calls of a function are counted and timed.
#include "repl/commands/commands.h"
#include "repl/language/probe_arguments.h"
#include "repl/session/edit_command.h"

#include <fmt/format.h>

namespace auger {
namespace {

struct Time final : EditCommand {
    ProbeRef probe;
    bool off = false; // what is attached for it goes

    Parsed<void> edit(SettingsEdit& edit) const override {
        auto timed = off ? edit.existing(probe) : edit.find_or_add(probe);
        if (!timed)
            return timed.complaint();
        (*timed)->off = off;
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        const std::string name = probe_name(*outcome.probe);
        if (off)
            return fmt::format("{} is off: what it collected stays", name);
        if (outcome.added())
            return fmt::format("timing {}", name);
        return outcome.before.find(outcome.probe->id)->off
                   ? fmt::format("timing {} again", name)
                   : fmt::format("{} is timed already", name);
    }
    const ProbeRef* makes() const override { return &probe; }
    std::string next_step(const ProbeSetting& made) const override {
        return fmt::format("\"hist {}\" shows its durations", made.id.value);
    }
};

Parsed<CommandPtr> parse_time(Arguments& arguments) {
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    auto command = std::make_unique<Time>();
    command->probe = std::move(*probe);
    command->off = arguments.take_if("off");
    return as_command(std::move(command));
}

} // namespace

CommandRow time_command() {
    return {
        .name = "time",
        .group = "Calls",
        .usage = "time PROBE [off]",
        .summary = "count and time the calls of a function",
        .details = R"help(
"help probes" explains PROBE. What matched is listed; `hist PROBE` shows the durations, `functions
PROBE` those of each function that a glob matches. The number that `probes` shows stands for the probe
in other commands.

At a terminal, files of other users that take long to be read are not waited for: they are named,
and what matches there is timed when they have been read. A script waits.

With `off` its probes are detached, so that it costs nothing, and what was collected is kept; calls
running at that moment count as `dropped`. `time PROBE` attaches them again. auger does the same by
itself when a probe costs too much ("help overhead").)help",
        .examples = R"help(time handle
time handle off
time libc:recv
time recv@main.cc:1312
time 'ns::Cache::*')help",
        .arguments = {probe_or_function, {.words = "off"}},
        .parse = parse_time,
    };
}

} // namespace auger
