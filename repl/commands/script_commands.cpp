// SPDX-License-Identifier: GPL-3.0-or-later
// For scripts: wait, assert, echo.
#include "repl/commands/table.h"

#include "repl/language/values.h"

#include <fmt/format.h>

namespace auger {
namespace {

Parsed<Command> parse_wait(Arguments& arguments) {
    WaitCommand command;
    if (!arguments.take_if("until")) {
        if (arguments.at_end())
            return arguments.missing("a duration, or \"until\" and a condition");
        arguments.take_if("for");
        if (arguments.at_end())
            return arguments.missing("a duration");
        const Word& word = arguments.take();
        auto duration = duration_of(word);
        if (!duration) {
            Complaint complaint = duration.complaint();
            for (const std::string& name : quantity_names()) {
                if (word.text == name)
                    complaint.hint = fmt::format("write wait until {} ...", name);
            }
            return complaint;
        }
        command.duration_ns = *duration;
        return Command(std::move(command));
    }
    auto condition = parse_condition(arguments);
    if (!condition)
        return condition.complaint();
    command.until = std::move(*condition);
    if (arguments.take_if("for")) {
        if (arguments.at_end())
            return arguments.missing("the longest time to wait");
        auto limit = duration_of(arguments.take());
        if (!limit)
            return limit.complaint();
        command.limit_ns = *limit;
    }
    return Command(std::move(command));
}

Parsed<Command> parse_assert(Arguments& arguments) {
    auto condition = parse_condition(arguments);
    if (!condition)
        return condition.complaint();
    return Command(AssertCommand{std::move(*condition)});
}

Parsed<Command> parse_echo(Arguments& arguments) {
    EchoCommand command;
    for (bool first = true; !arguments.at_end(); first = false)
        command.text += (first ? "" : " ") + arguments.take().text;
    return Command(std::move(command));
}

constexpr std::string_view quantities =
    "calls entries unwound open dropped filtered taken not-taken slow min max mean p50 p90 p95 p99 "
    "p99.9 samples share diff "
    "gated lost rate exited";
constexpr std::string_view comparisons = "< <= > >= == !=";

} // namespace

std::vector<CommandRow> script_commands() {
    return {
        {"wait",
         "w",
         "Scripts",
         "wait DURATION   or   wait until CONDITION [for DURATION]",
         "let time pass",
         "A `-- COMMAND` target runs from the first wait on. With `for`, the wait fails when the\n"
         "condition does not hold in time. Ctrl-C ends it. \"help assert\" explains conditions.",
         "wait 5s\nwait until calls handle >= 1000\nwait until slow handle >= 5 for 30s\n"
         "wait until exited",
         {{.words = "until 1s 5s 10s"},
          {.words = quantities},
          {.probe = true},
          {.words = comparisons},
          {},
          {.words = "for"},
          {}},
         parse_wait},
        {"assert",
         "",
         "Scripts",
         "assert QUANTITY COMPARISON VALUE",
         "fail unless something holds",
         "COMPARISON is one of < <= > >= == !=, with blanks around it. QUANTITY is one of\n"
         "  calls PROBE              calls that returned (also: count)\n"
         "  entries | unwound | open | dropped | filtered PROBE\n"
         "  taken | not-taken PROBE  returned calls by the split's branch, as counted\n"
         "  slow PROBE               calls traced by `slow`\n"
         "  min | max | mean PROBE   a duration: 5ms\n"
         "  p50 ... p99.9 PROBE      a duration\n"
         "  samples [CLASS]          samples, all or of a class of the split\n"
         "  share [CLASS] FUNCTION   part of the time with FUNCTION on the stack: 50%\n"
         "  diff FUNCTION            extra time of slow calls in FUNCTION, per call: 1ms\n"
         "  gated                    samples and slow calls that `only` or a raised rate kept "
         "back\n"
         "  lost [CAUSE]             events lost; \"status\" lists the causes\n"
         "  rate                     samples a second achieved\n"
         "  exited                   every process of the target has ended (stands alone)\n"
         "All but rate, gated, lost and exited follow `window`.",
         "assert p99 handle < 5ms\nassert lost == 0\nassert share slow parse > 50%\n"
         "assert samples slow+taken > 0\nassert taken handle == 5312",
         {{.words = quantities}, {.probe = true}, {.words = comparisons}, {}},
         parse_assert},
        {"echo",
         "",
         "Scripts",
         "echo [TEXT...]",
         "print a text",
         "",
         "echo \"before the split\"",
         {{}},
         parse_echo},
    };
}

} // namespace auger
