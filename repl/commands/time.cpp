// SPDX-License-Identifier: GPL-3.0-or-later
// time: the calls of a function are counted and timed.
#include "loader/probes/probe_pattern.h"
#include "repl/commands/commands.h"
#include "repl/commands/plan_probe.h"
#include "repl/language/probe_arguments.h"
#include "repl/session/edit_command.h"

#include <fmt/format.h>

namespace auger {
namespace {

// A place that is reached, such as a line, a USDT probe or a tracepoint.
bool is_counted(const std::string& probe) {
    const ParsedProbe parsed = parse_probe(probe);
    return parsed.pattern && is_place(*parsed.pattern);
}

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
        const bool counted = is_counted(outcome.probe->text);
        if (outcome.added())
            return fmt::format("{} {}", counted ? "counting" : "timing", name);
        return outcome.before.find(outcome.probe->id)->off
                   ? fmt::format("{} {} again", counted ? "counting" : "timing", name)
                   : fmt::format("{} is {} already", name, counted ? "counted" : "timed");
    }
    const ProbeRef* makes() const override { return &probe; }
    std::string next_step(const ProbeSetting& made) const override {
        return is_counted(made.text)
                   ? std::string("\"probes\" shows how often it is reached")
                   : fmt::format("\"hist {}\" shows its durations", made.id.value);
    }
};

Parsed<CommandPtr> parse_time(Arguments& arguments) {
    if (arguments.take_if("--dry-run"))
        return parse_plan_probe(arguments);
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
        .usage = "time PROBE [off]   or   time --dry-run PROBE",
        .summary = "count and time the calls of a function, or count how often a place is reached",
        .details = R"help(
"help probes" explains PROBE. What matched is listed; `hist PROBE` shows the durations, `functions
PROBE` those of each function that a glob matches. The number that `probes` shows stands for the probe
in other commands. A line, a USDT probe, a tracepoint of the kernel's, any place inside a function is
counted; `only PROBE if arg1 > 0` counts some of a USDT probe by its arguments, `if args.bytes > 4096`
some of a tracepoint by its fields. syscall:read times a system call by its tracepoints.

At a terminal, files of other users that take long to be read are not waited for: they are named,
and what matches there is timed when they have been read. A script waits.

With `--dry-run` nothing is attached: it lists the places, how each would be probed, and what the
probes of one call cost the calling thread, at its cheapest and its dearest exit. How often a function
is called is not known before it is timed. Samples tell what share of the target's CPU time is spent
in it, and hence how short its calls may be on average before the probes cost so much that auger warns
of it ("help overhead").

With `off` its probes are detached, so that it costs nothing, and what was collected is kept; calls
running at that moment count as `dropped`. `time PROBE` attaches them again. auger does the same by
itself when a probe costs too much ("help overhead").)help",
        .examples = R"help(time handle
time handle off
time --dry-run 'parse_*'
time libc:recv
time recv@main.cc:1312
time main.cc:1290
time usdt:postgresql:query__start
time tracepoint:block:block_rq_issue
time syscall:read
time 'ns::Cache::*')help",
        .arguments = {{.probe = true, .function = true, .words = "--dry-run"},
                      {.function = true, .words = "off"}},
        .parse = parse_time,
    };
}

} // namespace auger
