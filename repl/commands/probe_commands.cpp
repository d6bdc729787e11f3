// SPDX-License-Identifier: GPL-3.0-or-later
// Timing calls: time, slow, threshold, delete.
#include "repl/commands/probe_arguments.h"
#include "repl/commands/sections.h"
#include "repl/commands/table.h"

namespace auger {
namespace {

Parsed<Command> parse_time(Arguments& arguments) {
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    const bool off = arguments.take_if("off");
    return Command(TimeCommand{std::move(*probe), off});
}

Parsed<Command> parse_slow(Arguments& arguments) {
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    SlowCommand command{std::move(*probe), {}, {}, {}};
    if (arguments.take_if("off"))
        return Command(std::move(command));
    auto threshold = parse_threshold_value(arguments, command.probe);
    if (!threshold)
        return threshold.complaint();
    command.threshold = *threshold;
    constexpr std::string_view keywords[]{"if", "show"};
    auto sections = parse_sections(arguments, keywords);
    if (!sections)
        return sections.complaint();
    for (const Section& section : *sections) {
        if (section.keyword == "if") {
            auto predicate = predicate_of(section);
            if (!predicate)
                return predicate.complaint();
            command.slow_if = std::move(*predicate);
            continue;
        }
        command.show_default = false;
        if (section.text == "off")
            continue;
        auto expressions = expressions_of(section);
        if (!expressions)
            return expressions.complaint();
        command.show = std::move(*expressions);
    }
    return Command(std::move(command));
}

Parsed<Command> parse_threshold(Arguments& arguments) {
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    auto threshold = parse_threshold_value(arguments, *probe);
    if (!threshold)
        return threshold.complaint();
    return Command(ThresholdCommand{std::move(*probe), *threshold});
}

Parsed<Command> parse_delete(Arguments& arguments) {
    DeleteCommand command;
    do {
        auto probe = parse_probe(arguments);
        if (!probe)
            return probe.complaint();
        command.probes.push_back(std::move(*probe));
    } while (!arguments.at_end());
    return Command(std::move(command));
}

} // namespace

std::vector<CommandRow> probe_commands() {
    return {
        {"time",
         "",
         "Calls",
         "time PROBE [off]",
         "count and time the calls of a function",
         "PROBE is a function, library:function, path:function, ns::Class::method, or a glob such "
         "as\n"
         "'parse_*'. FUNCTION@FILE:LINE is only the calls of it that are made from that line, "
         "through\n"
         "a pointer too, which costs other callers nothing; FUNCTION@* is every direct call of it, "
         "each\n"
         "counted by itself (`sites` lists them). What matched is listed. Its number, shown by\n"
         "`probes`, stands for the probe in other commands. `hist PROBE` shows what was "
         "measured.\n\n"
         "With `off` nothing is attached for it any more, so that it costs nothing, and what was "
         "collected\n"
         "stays; calls that run then are `dropped`. `time PROBE` attaches it again. \"help "
         "overhead\" says when\n"
         "auger does that by itself.",
         "time handle\ntime handle off\ntime libc:recv\ntime recv@main.cc:1312\ntime "
         "'ns::Cache::*'",
         {probe_or_function, {.words = "off"}},
         parse_time},
        {"slow",
         "",
         "Calls",
         "slow PROBE > DURATION | PERCENTILE [if PREDICATE] [show EXPRESSION, ...]   or   slow "
         "PROBE "
         "off",
         "trace the calls that take longer, with stack, thread and values",
         "A percentile moves with the function's own recent calls. `calls` lists what was traced.\n"
         "Times the function if it is not timed yet; on a timed one it edits the threshold and\n"
         "leaves everything attached.\n\n"
         "An EXPRESSION is a value of the call: arg0 to argN by position, str(arg1) the string "
         "that\n"
         "it points to, a parameter by name and its members (req->len) where there is debug\n"
         "information, ret, errno. A PREDICATE compares them with numbers, strings or each other,\n"
         "joined by and, or, not: arg2 > 4096 and ret < 0. Without `show`, parameters and result\n"
         "are shown as far as they are known; `show off` shows none.",
         "slow handle > 5ms\nslow libc:recv > p99\nslow recv@main.cc:1312 > 1ms\n"
         "slow recv > 1ms if arg2 > 4096 and ret < 0 show arg0, arg2, ret, errno\nslow handle off",
         {probe_or_function,
          {.words = "> off"},
          {.words = thresholds},
          {.words = "if show"},
          {.words = "arg0 arg1 arg2 ret errno off"},
          {.words = "and or not show"}},
         parse_slow},
        {"threshold",
         "",
         "Calls",
         "threshold PROBE PERCENTILE | DURATION",
         "move the threshold of a split (or of slow calls)",
         "What was already collected is split again at once. For a probe that is not split on, "
         "moves\n"
         "the threshold of its `slow`.",
         "threshold handle p99\nthreshold 1 10ms",
         {{.probe = true}, {.words = thresholds}, {}},
         parse_threshold},
        {"delete",
         "",
         "Calls",
         "delete PROBE...",
         "remove probes, by number or text",
         "What they collected stays. Ends a split on one of them, and an `only` that needs one.",
         "delete 2\ndelete libc:recv",
         {{.probe = true}},
         parse_delete},
    };
}

} // namespace auger
