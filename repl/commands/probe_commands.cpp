// SPDX-License-Identifier: GPL-3.0-or-later
// Timing calls and splitting by them: time, slow, split, threshold, unsplit, delete.
#include "repl/commands/table.h"

#include "repl/language/values.h"

#include <fmt/format.h>

namespace auger {
namespace {

Parsed<ProbeRef> parse_probe(Arguments& arguments) {
    if (!arguments.at_end() && arguments.peek().comparison)
        return Complaint{arguments.peek().span, "a probe is missing before this",
                         fmt::format("usage: {}", arguments.usage()), Error::Kind::usage};
    auto word = arguments.expect("a probe");
    if (!word)
        return word.complaint();
    if (word->text.empty())
        return Complaint{word->span, "a probe cannot be empty", "", Error::Kind::usage};
    return probe_ref(*word);
}

// `> p95`; the '>' may be left out, as in `threshold`.
Parsed<Threshold> parse_threshold_value(Arguments& arguments, const ProbeRef& probe) {
    if (!arguments.take_if(">") && !arguments.take_if(">=") && !arguments.at_end() &&
        arguments.peek().comparison)
        return Complaint{arguments.peek().span, "slow calls are those above a threshold", "write >",
                         Error::Kind::usage};
    if (arguments.at_end()) {
        const size_t sign = probe.text.rfind('>');
        if (sign != std::string::npos && sign + 1 < probe.text.size() &&
            (read_duration(probe.text.substr(sign + 1)) ||
             read_percentile(probe.text.substr(sign + 1))))
            return Complaint{probe.at, "blanks are missing around \">\"",
                             fmt::format("write {} > {}", probe.text.substr(0, sign),
                                         probe.text.substr(sign + 1)),
                             Error::Kind::usage};
        return arguments.missing("a threshold (p95, 5ms)");
    }
    return threshold_of(arguments.take());
}

Parsed<Command> parse_time(Arguments& arguments) {
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    return Command(TimeCommand{std::move(*probe)});
}

Parsed<Command> parse_slow(Arguments& arguments) {
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    if (arguments.take_if("off"))
        return Command(SlowCommand{std::move(*probe), {}});
    auto threshold = parse_threshold_value(arguments, *probe);
    if (!threshold)
        return threshold.complaint();
    return Command(SlowCommand{std::move(*probe), *threshold});
}

Parsed<Command> parse_split(Arguments& arguments) {
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    if (probe->text == "off" && arguments.at_end())
        return Command(UnsplitCommand{});
    auto threshold = parse_threshold_value(arguments, *probe);
    if (!threshold)
        return threshold.complaint();
    const bool so_far = arguments.take_if("so-far");
    return Command(SplitCommand{std::move(*probe), *threshold, so_far});
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

Parsed<Command> parse_unsplit(Arguments&) {
    return Command(UnsplitCommand{});
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

constexpr ArgumentKind probe_or_function{.probe = true, .function = true};
constexpr std::string_view thresholds = "p90 p95 p99 p99.9 1ms 10ms";

} // namespace

std::vector<CommandRow> probe_commands() {
    return {
        {"time",
         "",
         "Calls",
         "time PROBE",
         "count and time the calls of a function",
         "PROBE is a function, library:function, path:function, ns::Class::method, or a glob such "
         "as\n"
         "'parse_*'. FUNCTION@FILE:LINE is only the calls of it that are made from that line, "
         "which\n"
         "costs other callers nothing; FUNCTION@* is every such place, each counted by itself\n"
         "(`sites` lists them). What matched is listed. Its number, shown by `probes`, stands for\n"
         "the probe in other commands. `hist PROBE` shows what was measured.",
         "time handle\ntime libc:recv\ntime recv@main.cc:1312\ntime 'ns::Cache::*'",
         {probe_or_function, {}},
         parse_time},
        {"slow",
         "",
         "Calls",
         "slow PROBE > DURATION | PERCENTILE   or   slow PROBE off",
         "trace the calls that take longer, with stack and thread",
         "A percentile moves with the function's own recent calls. `calls` lists what was traced.\n"
         "Times the function if it is not timed yet; on a timed one it edits the threshold and\n"
         "leaves everything attached.",
         "slow handle > 5ms\nslow libc:recv > p99\nslow recv@main.cc:1312 > 1ms\nslow handle off",
         {probe_or_function, {.words = "> off"}, {.words = thresholds}, {}},
         parse_slow},
        {"split",
         "",
         "Calls",
         "split PROBE > PERCENTILE | DURATION [so-far]",
         "class the samples by whether the enclosing call was slow",
         "Each sample is classed by how long the call around it turned out to take: slow, fast, "
         "open\n"
         "(still running) or outside (in no such call). A percentile moves with the load. so-far\n"
         "classes by the time already elapsed at the sample instead. Times the function if it is\n"
         "not timed yet; what was collected before is split too.",
         "split handle > p95\nsplit handle > 10ms so-far",
         {probe_or_function, {.words = ">"}, {.words = thresholds}, {.words = "so-far"}, {}},
         parse_split},
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
        {"unsplit",
         "",
         "Calls",
         "unsplit",
         "end the split; the probe stays timed",
         "",
         "",
         {{}},
         parse_unsplit},
        {"delete",
         "",
         "Calls",
         "delete PROBE...",
         "remove probes, by number or text",
         "What they collected stays. Ends a split on one of them.",
         "delete 2\ndelete libc:recv",
         {{.probe = true}},
         parse_delete},
    };
}

} // namespace auger
