// SPDX-License-Identifier: GPL-3.0-or-later
// Sampling, and the span of time that views show: sample, window, ewma.
#include "repl/commands/table.h"

#include "repl/language/values.h"

#include <fmt/format.h>

namespace auger {
namespace {

constexpr uint64_t default_rate_hz = 999; // not in step with timers of 100 or 1000 Hz
constexpr uint64_t highest_rate_hz = 49'999;

// "999", "999Hz", "999 Hz"
Parsed<uint32_t> parse_rate(Arguments& arguments) {
    Word word = arguments.take();
    if (word.text.ends_with("Hz") || word.text.ends_with("hz"))
        word.text.resize(word.text.size() - 2);
    const auto rate = read_count(word.text);
    if (!rate || *rate < 1 || *rate > highest_rate_hz)
        return Complaint{word.span, fmt::format("\"{}\" is no rate", word.text),
                         rate && *rate == 0 ? "\"sample off\" ends sampling"
                                            : "samples a second, from 1 to 49,999",
                         Error::Kind::usage};
    if (!arguments.at_end() && arguments.peek().text == "Hz")
        arguments.take();
    return static_cast<uint32_t>(*rate);
}

Parsed<Command> parse_sample(Arguments& arguments) {
    SamplingSettings sampling;
    sampling.rate_hz = default_rate_hz;
    sampling.wall = arguments.take_if("wall");
    if (!sampling.wall && !arguments.at_end() && arguments.peek().text == "wakers")
        return Complaint{arguments.peek().span, "only waits have somebody who ends them",
                         "write sample wall wakers", Error::Kind::usage};
    sampling.wakers = sampling.wall && arguments.take_if("wakers");
    if (arguments.at_end())
        return Command(SampleCommand{sampling, {}});
    if (!sampling.wall && arguments.take_if("off"))
        return Command(SampleCommand{});
    auto rate = parse_rate(arguments);
    if (!rate)
        return rate.complaint();
    sampling.rate_hz = *rate;
    if (!arguments.at_end() && arguments.peek().text == "waits") {
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
    }
    if (!arguments.take_if("only"))
        return Command(SampleCommand{sampling, {}});
    auto condition = parse_keep_condition(arguments);
    if (!condition)
        return condition.complaint();
    if (!condition->lines.empty())
        return Complaint{
            condition->first_line, "a line is known only when the call ends: too late to sample it",
            "\"only at FILE:LINE\" leaves other samples out of views", Error::Kind::usage};
    return Command(SampleCommand{sampling, std::move(*condition)});
}

Parsed<Window> parse_kind(Arguments& arguments, Window::Kind kind) {
    if (arguments.take_if("all") || (kind == Window::Kind::ewma && arguments.take_if("off")))
        return Window{};
    const Word& word = arguments.take();
    auto span = duration_of(word);
    if (!span)
        return span.complaint();
    if (*span == 0)
        return Complaint{word.span, "nothing happens within 0", "try 10s, or \"window all\"",
                         Error::Kind::usage};
    return Window{kind, *span};
}

Parsed<Command> parse_span(Arguments& arguments, Window::Kind kind) {
    if (arguments.at_end())
        return Command(WindowCommand{});
    auto window =
        arguments.peek().text == "until" ? Parsed<Window>(Window{}) : parse_kind(arguments, kind);
    if (!window)
        return window.complaint();
    WindowCommand command{*window, {}, {}};
    if (arguments.take_if("until")) {
        auto word = arguments.expect("a time since observation began");
        if (!word)
            return word.complaint();
        auto until = duration_of(*word);
        if (!until)
            return until.complaint();
        if (*until == 0)
            return Complaint{word->span, "nothing was observed before 0", "try 10s",
                             Error::Kind::usage};
        command.until_ns = *until;
        command.until_at = word->span;
    }
    return Command(command);
}

Parsed<Command> parse_window(Arguments& arguments) {
    return parse_span(arguments, Window::Kind::last);
}

Parsed<Command> parse_ewma(Arguments& arguments) {
    return parse_span(arguments, Window::Kind::ewma);
}

Parsed<Command> parse_overhead(Arguments& arguments) {
    if (arguments.at_end())
        return Command(OverheadCommand{});
    OverheadLimit limit;
    if (arguments.take_if("off")) {
        limit.brakes = false;
        return Command(OverheadCommand{limit});
    }
    const Word& word = arguments.take();
    const auto percent = read_percent(word.text.ends_with('%') ? word.text : word.text + "%");
    if (!percent || !(*percent > 0) || *percent > 100)
        return Complaint{word.span, fmt::format("\"{}\" is no share", word.text),
                         "percent of the target's CPU time, above 0 to 100; \"overhead off\" only "
                         "warns",
                         Error::Kind::usage};
    limit.percent = *percent;
    return Command(OverheadCommand{limit});
}

} // namespace

std::vector<CommandRow> sampling_commands() {
    return {
        {"sample",
         "",
         "Sampling",
         "sample [wall [wakers]] [RATE [waits RATE] [only CONDITION]] | sample off",
         "sample stacks RATE times a second (999)",
         "RATE is from 1 to 49,999 Hz; 999 when none is given. Changing it keeps what was "
         "collected.\n"
         "Without `wall` only running threads are sampled. With it waiting ones too, in the same "
         "unit and\n"
         "the same flame: `blocked` until they are woken, then `runnable` until they have a CPU. "
         "Only wall\n"
         "time can account for a call that waits. A wait is seen when it ends. With `wakers` the "
         "stack of\n"
         "a blocked thread goes on with who woke it and from where: [woken by NAME], then that "
         "thread's\n"
         "own stack, from its innermost frame outwards. It costs a stack at each wake-up.\n"
         "`status` shows the rate that is really achieved.\n\n"
         "With `waits`, waits are sampled at a rate of their own, and their stacks taken only "
         "where "
         "a\n"
         "sample is to be expected: of thousands of threads, or of millions of waits a second, "
         "that\n"
         "costs a fraction. What a sample stands for is in its weight, so shares stay as they are. "
         "A\n"
         "wait that is much longer than its thread's others may then have no stack, and says "
         "so.\n\n"
         "With `only`, RATE is for what CONDITION lets through (\"help only\"; no lines), and the "
         "rate in\n"
         "force before, or none, stays for the rest: rare slow calls get many samples while\n"
         "everything else costs little. `sample RATE` without `only` ends that.",
         "sample\nsample 9999\nsample wall 199\nsample wall wakers\nsample wall 499 waits "
         "9\nsample 4999 only handle > "
         "p95\nsample off",
         {{.words = "wall 99 999 9999 off"},
          {.words = "wakers 99 999 9999 waits only"},
          {.probe = true, .words = "only in pid tid comm cgroup not"},
          {.probe = true,
           .function = true,
           .words = "> and or not in pid tid comm cgroup p95 p99"}},
         parse_sample},
        {"overhead",
         "",
         "Sampling",
         "overhead [PERCENT | off]",
         "how much of the target's CPU time observing may take (50)",
         "Alone it shows the shares of the last second by cause: samples, waits, each probe, lines "
         "of\n"
         "`split` and `only`. Those of samples and waits are measured. Those of probes are "
         "estimates:\n"
         "hits, of whatever process, times what a hit costs, as measured on this machine at the "
         "start.\n\n"
         "After three seconds in a row beyond PERCENT the dearest cause is reduced, until the rest "
         "fits: a rate\n"
         "is halved (not below 1 Hz; waits get one of their own, \"help sample\"), a probe is "
         "taken "
         "off\n"
         "(\"help time\"), lines are no longer watched. What was collected stays. So it is with "
         "waits\n"
         "when their samples come faster than auger can take them in. A notice says what was done, "
         "and\n"
         "what brings it back; `undo` does, too. From 5 %, or a fifth of PERCENT, on a notice says "
         "so once.\n"
         "What takes less than a hundredth of a CPU is left alone. `overhead off` measures and "
         "warns "
         "(at\n"
         "5 %), and does nothing.",
         "overhead\noverhead 10\noverhead off",
         {{.words = "5 10 25 50 off"}, {}},
         parse_overhead},
        {"window",
         "",
         "Sampling",
         "window [DURATION | all] [until TIME]",
         "views show only the last DURATION",
         "With `until` the window ends at that moment and stays there, while more is collected: "
         "TIME is\n"
         "since observation began, as `calls` shows it. `window DURATION` goes on to now again.\n"
         "Classes and names are as they are known now, open calls those of now. A wait counts in "
         "the\n"
         "window that it ends in, with all of its time, so that windows and files of intervals add "
         "up;\n"
         "only the time strip spreads it over the moments that it spanned.",
         "window 10s\nwindow 5s until 17.5s\nwindow all",
         {{.words = "10s 1m all"}, {.words = "until"}, {.words = "10s"}, {}},
         parse_window},
        {"ewma",
         "",
         "Sampling",
         "ewma [DURATION | off] [until TIME]",
         "views show everything, fading with this time constant",
         "What happened DURATION ago counts 1/e of what happens now. Does not depend on how often\n"
         "views are drawn. With `until` it fades from that moment back, and what came later is not "
         "shown.\n"
         "Replaces `window`, and the other way round.",
         "ewma 10s\newma 5s until 17.5s\newma off",
         {{.words = "10s 1m off"}, {.words = "until"}, {.words = "10s"}, {}},
         parse_ewma},
    };
}

} // namespace auger
