// SPDX-License-Identifier: GPL-3.0-or-later
// Looking at what was collected: view, flame, diff, top, hist, calls, probes, status.
#include "repl/commands/sample_selection.h"
#include "repl/commands/table.h"

#include "repl/language/suggest.h"
#include "repl/language/values.h"
#include "views/screen/screen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {
namespace {

Parsed<ClassFilter> parse_class(Arguments& arguments) {
    auto word = arguments.expect("a class");
    if (!word)
        return word.complaint();
    return class_of(*word);
}

Parsed<Command> parse_flame(Arguments& arguments) {
    FlameCommand command;
    auto query = parse_sample_selection(arguments, [&]() -> Parsed<bool> {
        const bool taken = arguments.take_if("--folded");
        command.folded = command.folded || taken;
        return taken;
    });
    if (!query)
        return query.complaint();
    command.query = std::move(*query);
    return Command(command);
}

Parsed<Command> parse_diff(Arguments& arguments) {
    DiffCommand command;
    if (arguments.at_end())
        return Command(command);
    const size_t first_at = arguments.position();
    auto first = parse_class(arguments);
    if (!first)
        return first.complaint();
    arguments.take_if("-");
    const size_t second_at = arguments.position();
    auto second = parse_class(arguments);
    if (!second)
        return second.complaint();
    for (const auto& [filter, at] : {std::pair{*first, first_at}, std::pair{*second, second_at}}) {
        if (filter.all() || filter.duration == CallClass::open ||
            filter.duration == CallClass::outside)
            return Complaint{arguments.span_of(at), "only ended calls can be compared, per call",
                             "write diff slow fast, or diff taken not-taken", Error::Kind::usage};
    }
    if (*first == *second)
        return Complaint{arguments.span_of(second_at), "this compares a class with itself",
                         "write diff slow fast", Error::Kind::usage};
    if (!first->excludes(*second))
        return Complaint{arguments.since(first_at), "a call can be in both of these",
                         "compare classes that exclude each other: diff slow fast",
                         Error::Kind::usage};
    command.first = std::move(*first);
    command.second = std::move(*second);
    return Command(command);
}

// [CLASS] [-n ROWS]
template <typename Listing>
Parsed<Command> parse_listing(Arguments& arguments) {
    Listing command;
    if (!arguments.at_end() && arguments.peek().text != "-n") {
        auto filter = parse_class(arguments);
        if (!filter)
            return filter.complaint();
        command.filter = *filter;
    }
    auto rows = take_rows(arguments);
    if (!rows)
        return rows.complaint();
    command.limit = *rows;
    return Command(command);
}

Parsed<Command> parse_hist(Arguments& arguments) {
    auto word = arguments.expect("a probe");
    if (!word)
        return word.complaint();
    return Command(HistCommand{probe_ref(*word)});
}

Parsed<Command> parse_calls(Arguments& arguments) {
    CallsCommand command;
    std::optional<ClassFilter> filter;
    if (!arguments.at_end() && looks_like_range(arguments.peek())) {
        auto range = parse_class(arguments); // so that it complains as one
        if (!range)
            return range.complaint();
        filter = std::move(*range);
    } else {
        filter = take_class(arguments);
    }
    if (!filter && !arguments.at_end() && !arguments.peek().text.starts_with('-')) {
        command.probe = probe_ref(arguments.take());
        if (!arguments.at_end() && arguments.peek().text != "-n") {
            auto of_probe = parse_class(arguments);
            if (!of_probe)
                return of_probe.complaint();
            filter = std::move(*of_probe);
        }
    }
    if (filter)
        command.filter = std::move(*filter);
    auto rows = take_rows(arguments);
    if (!rows)
        return rows.complaint();
    command.limit = *rows;
    return Command(std::move(command));
}

Parsed<Command> parse_probes(Arguments&) {
    return Command(ProbesCommand{});
}

Parsed<Command> parse_sites(Arguments& arguments) {
    auto word = arguments.expect("a function");
    if (!word)
        return word.complaint();
    if (word->text.find('@') != std::string::npos)
        return Complaint{word->span, "this is a call site already",
                         fmt::format("write sites {}", word->text.substr(0, word->text.find('@'))),
                         Error::Kind::usage};
    SitesCommand command{probe_ref(*word), {}};
    if (arguments.take_if("in")) {
        auto within = arguments.expect("a function, file or library");
        if (!within)
            return within.complaint();
        command.within = within->text;
    }
    return Command(std::move(command));
}

Parsed<Command> parse_status(Arguments&) {
    return Command(StatusCommand{});
}

Parsed<Command> parse_view(Arguments& arguments) {
    ViewCommand command;
    if (arguments.at_end())
        return Command(command);
    const Word& word = arguments.take();
    const auto names = Screen::pane_names();
    if (std::ranges::find(names, word.text) == names.end())
        return Complaint{word.span, fmt::format("the view has no pane \"{}\"", word.text),
                         fmt::format("one of: {}", fmt::join(names, ", ")), Error::Kind::usage};
    command.pane = word.text;
    return Command(command);
}

std::string_view pane_words() {
    static const std::string words = fmt::format("{}", fmt::join(Screen::pane_names(), " "));
    return words;
}

constexpr std::string_view classes = "slow fast open outside taken not-taken all";

} // namespace

std::vector<CommandRow> view_commands() {
    return {
        {"view",
         "",
         "Views",
         "view [PANE]",
         "the live view: all of the terminal, single keys, ? lists them",
         "Opens with the pane that was shown last, or with PANE. What is collected and in force\n"
         "stays as it is: whatever a key does is a command of this list, shown at the bottom and\n"
         "kept in the history. q, Escape and Ctrl-C lead back to the prompt, where everything "
         "goes\n"
         "on; while a command runs, Ctrl-C ends that command instead. Ctrl-Z suspends auger. "
         "Without\n"
         "colours: NO_COLOR=1. `overhead` is auger's own CPU time and what its samples take of "
         "the\n"
         "target's threads, of one CPU; what probes cost is not in it.",
         "view\nview flame",
         {{.words = pane_words()}, {}},
         parse_view},
        {"flame",
         "f",
         "Views",
         "flame [CLASS] [by KEY] [under FUNCTION] [--folded]",
         "where the time goes, as a tree of calls",
         "CLASS joins classes of the split by +: slow, fast, open or outside; 10ms..50ms, 10ms.. "
         "or ..50ms\n"
         "(how long its call took: at least the first, less than the second); taken or not-taken; "
         "=VALUE.\n"
         "Without one, every sample, and how many each class has. Threads of a process are one, "
         "unless they "
         "are\n"
         "told apart: KEY is process, comm (the thread's name), tid, cgroup (of the process when "
         "it "
         "was\n"
         "first seen), cpu (of a wait: where it ended) or machine. Under a function: only what "
         "happens\n"
         "in it, its callers left out; under \"route;fetch\": in the calls of fetch alone that "
         "route makes. "
         "--folded\n"
         "prints collapsed stacks, one a line, for flame graph tools (with --json: as one string,\n"
         "\"folded\").",
         "flame\nflame slow\nflame slow+taken\nflame 10ms..50ms\nflame by comm\nflame by "
         "cgroup\nflame under handle\nflame under \"route;fetch\"\nflame slow --folded",
         {{.words = "slow fast open outside taken not-taken all by under --folded"},
          {.words = "by under --folded"},
          {.after = "by", .words = group_words()},
          {.after = "under", .function = true}},
         parse_flame},
        {"diff",
         "",
         "Views",
         "diff [CLASS CLASS]",
         "what slow calls do that fast ones do not, per call",
         "Per call: slow calls have more samples just by being longer. Each difference has its 95 "
         "%\n"
         "margin. What is sure is found by a permutation test over calls, exact where they are "
         "few, at\n"
         "a false discovery rate of 5 %; what may be chance is marked with ? and how many more "
         "calls\n"
         "would make it sure. rest is a function's difference without that of the callee that has "
         "most\n"
         "of it: the larger, the nearer to the cause; it is not the function's own time. Needs a "
         "split.\n"
         "Any two classes that exclude each other can be compared; the number of calls in a "
         "combined one\n"
         "is estimated.",
         "diff slow fast\ndiff taken not-taken\ndiff slow+taken slow+not-taken\ndiff =3 =7",
         {{.words = "slow fast taken not-taken"}, {.words = "slow fast taken not-taken"}, {}},
         parse_diff},
        {"top",
         "",
         "Views",
         "top [CLASS] [-n ROWS]",
         "functions by their own and their total time",
         "CLASS as for `flame`.",
         "top\ntop slow -n 10\ntop =3",
         {{.words = "slow fast open outside taken not-taken all -n"}, {.words = "-n"}, {}},
         parse_listing<TopCommand>},
        {"threads",
         "",
         "Views",
         "threads [CLASS] [-n ROWS]",
         "threads, and what each one's time was spent on",
         "In shares of the time that the window covers: a thread that always runs has 100 %.\n"
         "CLASS as for `flame`.",
         "threads\nthreads slow -n 10",
         {{.words = "slow fast open outside taken not-taken all -n"}, {.words = "-n"}, {}},
         parse_listing<ThreadsCommand>},
        {"hist",
         "",
         "Views",
         "hist PROBE",
         "distribution of a probe's durations, with percentiles",
         "",
         "hist handle\nhist 1",
         {{.probe = true}, {}},
         parse_hist},
        {"calls",
         "",
         "Views",
         "calls [PROBE] [CLASS] [-n ROWS]",
         "the slow calls that were traced",
         "Duration, thread, values and stack of each; of all probes when none is given. CLASS as "
         "for "
         "`flame`:\n"
         "that of the split's call around it. `slow` traces them.",
         "calls\ncalls handle -n 5\ncalls recv slow+taken",
         {{.probe = true, .words = classes}, {.words = "-n slow fast taken not-taken"}, {}},
         parse_calls},
        {"probes",
         "",
         "Views",
         "probes",
         "the probes, their places and thresholds",
         "",
         "",
         {{}},
         parse_probes},
        {"sites",
         "",
         "Views",
         "sites FUNCTION [in PATTERN]",
         "from where a function is called, with the counts of those that are timed",
         "Every instruction of the target's programs that calls FUNCTION, through the PLT too; "
         "the\n"
         "libraries' when the programs have none. PATTERN (a glob) keeps those whose caller, "
         "source\n"
         "file or library fits. Calls through pointers cannot be seen. Each is a probe, written\n"
         "FUNCTION@FILE:LINE; FUNCTION@* is all of them at once.",
         "sites recv\nsites recv in handle_*\nsites memcpy in parser.cc",
         {{.function = true}, {.words = "in"}, {.function = true}, {}},
         parse_sites},
        {"status",
         "",
         "Views",
         "status",
         "target, rates, and the account of everything lost",
         "entries = returns + unwound + open + dropped + filtered, and every lost event has a "
         "cause.",
         "",
         {{}},
         parse_status},
    };
}

} // namespace auger
