// SPDX-License-Identifier: GPL-3.0-or-later
// sample: how often stacks are taken, of running threads alone or of waiting ones too.
#include "repl/commands/commands.h"
#include "repl/language/keep_condition.h"
#include "repl/language/values.h"
#include "repl/session/edit_command.h"
#include "repl/session/session.h"
#include "repl/session/spelling.h"

#include <fmt/format.h>

namespace auger {
namespace {

constexpr uint32_t default_rate_hz = 999; // not in step with timers of 100 or 1000 Hz
constexpr uint64_t highest_rate_hz = 49'999;

std::string describe(const Settings& settings) {
    const SamplingSettings& sampling = settings.sampling;
    if (sampling.rate_hz == 0 && sampling.raised_hz == 0)
        return "not sampling";
    std::string rate = fmt::format("{} Hz", sampling.rate_hz);
    if (sampling.raised_hz)
        rate = fmt::format("{} Hz where the condition holds, {} elsewhere", sampling.raised_hz,
                           sampling.rate_hz ? rate : "not");
    if (sampling.wall && sampling.waits_hz)
        rate += fmt::format(", waits at {} Hz", sampling.waits_hz);
    return fmt::format(
        "sampling {}{}{}{} at {}{}",
        sampling.wall ? "wall-clock time (running, blocked, waiting for a CPU)" : "CPU time",
        sampling.wakers ? " with who ends waits" : "", sampling.tasks ? " with Python's tasks" : "",
        sampling.go_label.empty()
            ? ""
            : fmt::format(" with Go's label {}", quote_word(sampling.go_label)),
        rate,
        settings.target.kind == TargetSpec::Kind::none ? ", as soon as there is a target" : "");
}

constexpr SettingRow sampling_setting{
    .same = same_members<&Settings::sampling>,
    .apply = [](const Settings& to, Backend&,
                Services& services) { return services.set_sampling(to.sampling); },
    .spell =
        [](const Settings& settings, std::vector<std::string>& lines) {
            for (std::string& line : spell_sampling(settings))
                lines.push_back(std::move(line));
        },
    .end_without = [](Settings& settings, ProbeId probe) -> std::string {
        if (!needs_probe(settings.sampling.raised, probe))
            return {};
        settings.sampling.raised_hz = 0;
        settings.sampling.raised = {};
        return "the raised rate, which needs it, has ended";
    },
};

struct SetSampling final : EditCommand {
    SamplingSettings sampling; // without `raised`
    // The rate is for what this lets through, beside the rate in force.
    std::optional<KeepCondition> only;

    Parsed<void> edit(SettingsEdit& edit) const override {
        SamplingSettings& in_force = edit.settings.sampling;
        if (!only) {
            in_force = sampling;
            return {};
        }
        if (sampling.rate_hz <= in_force.rate_hz)
            return Complaint{
                only->at, fmt::format("everything is sampled at {} Hz already", in_force.rate_hz),
                "give a higher rate, or first \"sample off\" or a lower one for the rest",
                Error::Kind::failed};
        auto gate = edit.resolved(*only);
        if (!gate)
            return gate.complaint();
        in_force.wall |= sampling.wall;
        in_force.wakers |= sampling.wakers;
        in_force.tasks |= sampling.tasks;
        if (!sampling.go_label.empty())
            in_force.go_label = sampling.go_label;
        if (sampling.waits_hz)
            in_force.waits_hz = sampling.waits_hz;
        in_force.raised_hz = sampling.rate_hz;
        in_force.raised = std::move(*gate);
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        return describe(outcome.now);
    }
};

// "999", "999Hz", "999 Hz"
Parsed<uint32_t> parse_rate(Arguments& arguments) {
    Word word = arguments.take();
    if (word.text.ends_with("Hz") || word.text.ends_with("hz"))
        word.text.resize(word.text.size() - 2);
    const auto rate = read_count(word.text);
    if (!rate || *rate < 1 || *rate > highest_rate_hz)
        return Complaint{word.span, fmt::format("\"{}\" is not a rate", word.text),
                         rate && *rate == 0 ? "\"sample off\" ends sampling"
                                            : "samples a second, from 1 to 49,999",
                         Error::Kind::usage};
    if (!arguments.at_end() && arguments.peek().text == "Hz")
        arguments.take();
    return static_cast<uint32_t>(*rate);
}

// `waits RATE`, if it stands there.
Parsed<void> parse_waits(Arguments& arguments, SamplingSettings& sampling) {
    if (arguments.at_end() || arguments.peek().text != "waits")
        return {};
    const Span at = arguments.take().span;
    if (!sampling.wall)
        return Complaint{at, "waits are sampled with wall only",
                         "write sample wall RATE waits RATE", Error::Kind::usage};
    if (arguments.at_end())
        return arguments.missing("a rate");
    auto waits = parse_rate(arguments);
    if (!waits)
        return waits.complaint();
    sampling.waits_hz = *waits;
    return {};
}

// `golabel KEY`, if it stands there.
Parsed<void> parse_go_label(Arguments& arguments, SamplingSettings& sampling) {
    if (!arguments.take_if("golabel"))
        return {};
    if (arguments.at_end())
        return arguments.missing("a label's key");
    const Word key = arguments.take();
    if (key.text.empty() || key.text.size() > most_go_label_key)
        return Complaint{key.span, fmt::format("\"{}\" is no label's key", key.text),
                         fmt::format("it has 1 to {} bytes", most_go_label_key),
                         Error::Kind::usage};
    sampling.go_label = key.text;
    return {};
}

Parsed<CommandPtr> parse_sample(Arguments& arguments) {
    auto command = std::make_unique<SetSampling>();
    SamplingSettings& sampling = command->sampling;
    sampling.wall = arguments.take_if("wall");
    if (!sampling.wall && !arguments.at_end() && arguments.peek().text == "wakers")
        return Complaint{arguments.peek().span, "only waits have somebody who ends them",
                         "write sample wall wakers", Error::Kind::usage};
    sampling.wakers = sampling.wall && arguments.take_if("wakers");
    sampling.tasks = arguments.take_if("tasks");
    if (auto label = parse_go_label(arguments, sampling); !label)
        return label.complaint();
    const bool has_stacks = sampling.tasks || !sampling.go_label.empty();
    if (has_stacks && !arguments.at_end() &&
        (arguments.peek().text == "wall" || arguments.peek().text == "off"))
        return Complaint{arguments.peek().span,
                         fmt::format("\"{}\" cannot stand here", arguments.peek().text),
                         sampling.tasks ? "write sample wall tasks, or sample off"
                                        : "write sample wall golabel KEY, or sample off",
                         Error::Kind::usage};
    if (!sampling.wall && arguments.take_if("off"))
        return as_command(std::move(command));
    sampling.rate_hz = default_rate_hz;
    if (arguments.at_end())
        return as_command(std::move(command));
    auto rate = parse_rate(arguments);
    if (!rate)
        return rate.complaint();
    sampling.rate_hz = *rate;
    if (auto waits = parse_waits(arguments, sampling); !waits)
        return waits.complaint();
    if (!arguments.take_if("only"))
        return as_command(std::move(command));
    auto condition = parse_keep_condition(arguments);
    if (!condition)
        return condition.complaint();
    if (!condition->lines.empty())
        return Complaint{
            condition->first_line, "a line is known only when the call ends: too late to sample it",
            "\"only at FILE:LINE\" leaves other samples out of views", Error::Kind::usage};
    if (!condition->stacks.empty())
        return Complaint{
            condition->first_stack,
            "what is on a stack is known only when it has names: too late to sample it",
            "\"only in py:FUNCTION\" leaves other samples out of views", Error::Kind::usage};
    command->only = std::move(*condition);
    return as_command(std::move(command));
}

} // namespace

CommandRow sample_command() {
    return {
        .name = "sample",
        .group = "Sampling",
        .usage =
            "sample [wall [wakers]] [tasks] [golabel KEY] [RATE [waits RATE] [only CONDITION]] "
            "| sample off",
        .summary = "sample stacks RATE times a second (999)",
        .details = R"help(
Takes stacks of running threads RATE times a second, from 1 to 49,999; 999 when none is given.
Changing the rate keeps what was collected. `status` shows the rate achieved.

With `wall`, waiting threads are sampled too, in the same unit and the same flame: `blocked` until
they are woken, then `runnable` until they have a CPU. Only wall-clock time accounts for calls that
wait. A wait shows up when it ends. With `wakers`, the stack of a blocked thread goes on with who
woke it, and from where: [woken by NAME], then the waker's stack from its innermost frame outwards.
That costs a stack at each wake-up.

Goroutines that are in timed calls are sampled while no thread runs them: [parked: chan receive] and
the like count as blocked, [queued] as runnable, and `hist` of a Go function has its whole wall clock.
Where they switch so often that it would cost more than 5 % of the target's CPU time, or of a CPU in
other processes that run the same program, that ends by itself, as `status` says.

Tasks of Python's asyncio (CPython 3.11 to 3.15) that work for an exchange, or are the key of a span,
are sampled while they wait, too: [parked] or [queued], called by the functions that await. They are
read from the process's memory. The target pays nothing for it, auger at most 2 % of a CPU; where
there are many tasks, some are read, which stand for all.

With `tasks`, stacks of CPython say which task of an event loop (asyncio, uvloop, trio) runs:
[task app.handle Task-17] stands around the frames of the task's outermost coroutine, by what that is
of and what asyncio calls the task (up to 3.14). Until that is known, and for tasks of other loops, it
has the coroutine's address, as id() says it. Two tasks that live one after the other may have one
address. In a value of a call it is `task` ("help expressions").

With `golabel KEY`, stacks of Go programs say the label that the goroutine has under KEY, as
pprof.Do() and pprof.SetGoroutineLabels() set it: [golabel route=/quote] stands around all functions.
`flame by golabel` groups by it. In a value of a call it is golabel("route").

`waits RATE` samples waits at a rate of their own, and takes their stacks only where a sample is
expected. With thousands of threads, or millions of waits a second, that costs a fraction. Each
sample carries its weight, so shares stay right. A wait much longer than its thread's others may
have no stack, and says so.

`only CONDITION` ("help only"; without lines) applies RATE where CONDITION holds, and leaves the
rate in force before, or none, for the rest: many samples of rare slow calls, while everything else
stays cheap. `sample RATE` without `only` ends that.)help",
        .examples = R"help(sample
sample 9999
sample wall 199
sample wall wakers
sample tasks 499
sample golabel route 499
sample wall 499 waits 9
sample 4999 only handle > p95
sample off)help",
        .arguments = {{.words = "wall tasks golabel 99 999 9999 off"},
                      {.words = "wakers tasks golabel 99 999 9999 waits only"},
                      {.probe = true, .words = "only in pid tid comm cgroup not"},
                      {.probe = true,
                       .function = true,
                       .words = "> and or not in pid tid comm cgroup p95 p99"}},
        .parse = parse_sample,
        .settings = {&sampling_setting},
    };
}

} // namespace auger
