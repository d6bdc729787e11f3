// SPDX-License-Identifier: GPL-3.0-or-later
// What is told apart and what is kept: split, unsplit, only.
#include "repl/commands/probe_arguments.h"
#include "repl/commands/sections.h"
#include "repl/commands/table.h"
#include "repl/language/raw_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace auger {
namespace {

constexpr std::array<std::string_view, 3> part_keywords{"at", "if", "by"};

// Whether a part stands here and no probe that is called like its keyword.
bool begins_part(Arguments arguments) {
    if (arguments.at_end() || arguments.peek().quoted ||
        std::ranges::find(part_keywords, arguments.peek().text) == part_keywords.end())
        return false;
    arguments.take();
    return arguments.at_end() || !arguments.peek().comparison;
}

Parsed<std::string> line_of(const Section& section) {
    return source_line_of({section.text, section.at, false, false});
}

Parsed<void> parse_parts(Arguments& arguments, SplitCommand& command) {
    auto sections = parse_sections(arguments, part_keywords);
    if (!sections)
        return sections.complaint();
    for (const Section& section : *sections) {
        auto text = section.keyword == "at"   ? line_of(section)
                    : section.keyword == "if" ? predicate_of(section)
                                              : expression_of(section);
        if (!text)
            return text.complaint();
        if (section.keyword == "by") {
            command.label = std::move(*text);
            continue;
        }
        if (command.branch)
            return Complaint{section.at, "a split has one branch: a line or a predicate", "",
                             Error::Kind::usage};
        command.branch = fmt::format("{} {}", section.keyword, *text);
    }
    return {};
}

Parsed<Command> parse_split(Arguments& arguments) {
    SplitCommand command;
    if (!begins_part(arguments)) {
        auto probe = parse_probe(arguments);
        if (!probe)
            return probe.complaint();
        if (probe->text == "off" && arguments.at_end())
            return Command(UnsplitCommand{});
        command.probe = std::move(*probe);
        if (!begins_part(arguments)) {
            auto threshold = parse_threshold_value(arguments, *command.probe);
            if (!threshold)
                return threshold.complaint();
            command.threshold = *threshold;
            command.so_far = arguments.take_if("so-far");
        }
    } else {
        command.at = arguments.peek().span;
    }
    if (auto parts = parse_parts(arguments, command); !parts)
        return parts.complaint();
    return Command(std::move(command));
}

Parsed<Command> parse_unsplit(Arguments&) {
    return Command(UnsplitCommand{});
}

// `PROBE if PREDICATE`, or `PROBE if off`.
Parsed<Command> parse_only_calls(Arguments& arguments) {
    OnlyCommand command;
    command.kind = OnlyCommand::Kind::calls;
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    command.probe = std::move(*probe);
    constexpr std::string_view keywords[]{"if"};
    auto sections = parse_sections(arguments, keywords);
    if (!sections)
        return sections.complaint();
    if (sections->front().text == "off")
        return Command(std::move(command));
    auto predicate = predicate_of(sections->front());
    if (!predicate)
        return predicate.complaint();
    command.only_if = std::move(*predicate);
    return Command(std::move(command));
}

Parsed<Command> parse_only(Arguments& arguments) {
    OnlyCommand command;
    if (arguments.at_end())
        return Command(std::move(command));
    if (arguments.left() == 1 && arguments.take_if("off")) {
        command.kind = OnlyCommand::Kind::off;
        return Command(std::move(command));
    }
    Arguments ahead = arguments;
    ahead.take();
    if (ahead.take_if("if"))
        return parse_only_calls(arguments);
    auto condition = parse_keep_condition(arguments);
    if (!condition)
        return condition.complaint();
    command.kind = OnlyCommand::Kind::condition;
    command.condition = std::move(*condition);
    return Command(std::move(command));
}

} // namespace

std::vector<CommandRow> split_commands() {
    return {
        {"split",
         "",
         "Calls",
         "split [PROBE] [> PERCENTILE | DURATION [so-far]] [at FILE:LINE | if PREDICATE] "
         "[by EXPRESSION]",
         "class the samples by what the enclosing call turned out to do",
         "Each sample is classed by the outermost call of PROBE around it:\n"
         "  > p95           slow or fast, by how long it took; open while it runs. A percentile\n"
         "                  moves with the load. so-far: by the time elapsed at the sample.\n"
         "  at FILE:LINE    taken or not-taken: whether that line was executed in the call\n"
         "  if PREDICATE    taken or not-taken: whether it holds for the call (\"help slow\")\n"
         "  by EXPRESSION   =VALUE: by what the expression was; of \"METERED (1)\" also =METERED, "
         "=1\n"
         "Samples outside of such a call are outside. Parts combine, and so do their classes:\n"
         "slow+taken, fast+not-taken, slow+=3. A part that is given for the probe in force (which\n"
         "may be left out) replaces that part only; another probe starts anew. Times the function\n"
         "if it is not timed yet. What was collected before is split by duration too; lines and\n"
         "values are known of calls that begin from now on.",
         "split handle > p95\nsplit handle > 10ms so-far\nsplit handle at main.cc:1290\n"
         "split if arg2 > 4096\nsplit handle > p95 at main.cc:1290 by req->type",
         {{.probe = true, .function = true, .words = "at if by"},
          {.words = "> at if by"},
          {.words = thresholds},
          {.words = "so-far at if by"},
          {.words = "at if by"}},
         parse_split},
        {"unsplit",
         "",
         "Calls",
         "unsplit",
         "end the split, with all its parts; the probe stays timed",
         "",
         "",
         {{}},
         parse_unsplit},
        {"only",
         "",
         "Calls",
         "only [CONDITION | off]   or   only PROBE if PREDICATE | off",
         "keep only what happens in certain calls, threads or groups",
         "CONDITION joins these by and, or, not and parentheses:\n"
         "  PROBE > p95      in a call of it that has lasted longer by then\n"
         "  in PROBE         in a call of it\n"
         "  pid N, tid N, comm NAME, cgroup NAME\n"
         "  at FILE:LINE     in a call that executes that line. Known when the call ends, so it "
         "is\n"
         "                   joined with the others by `and` only; the call meant is the split's,\n"
         "                   or without a split any timed one around.\n"
         "Samples and slow calls beyond it are not taken at all (but for lines: those are left "
         "out\n"
         "of views). Counting and timing of calls goes on. `status` shows how many were kept "
         "back.\n\n"
         "only PROBE if PREDICATE: other calls of it do not count; entries = returns + unwound +\n"
         "open + dropped + filtered. \"help slow\" explains predicates.",
         "only handle > p95\nonly in handle and not (comm logger or tid 4711)\n"
         "only at main.cc:1290\nonly recv if arg2 > 4096 and ret < 0\nonly recv if off\nonly off",
         {{.probe = true, .function = true, .words = "in pid tid comm cgroup at not off"},
          {.probe = true, .function = true, .words = "> if off"},
          {.probe = true,
           .function = true,
           .words = "and or not in pid tid comm cgroup at p95 p99 off"}},
         parse_only},
    };
}

} // namespace auger
