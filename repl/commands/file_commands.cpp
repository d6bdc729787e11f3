// SPDX-License-Identifier: GPL-3.0-or-later
// Files: record, save, source.
#include "repl/commands/table.h"

#include <fmt/format.h>

namespace auger {
namespace {

Parsed<std::string> parse_path(Arguments& arguments, std::string_view what) {
    auto word = arguments.expect(what);
    if (!word)
        return word.complaint();
    if (word->text.empty() || word->text.find('\0') != std::string::npos)
        return Complaint{word->span, "a file needs a name", "", Error::Kind::usage};
    return std::move(word->text);
}

Parsed<Command> parse_record(Arguments& arguments) {
    if (arguments.take_if("off"))
        return Command(RecordCommand{});
    auto path = parse_path(arguments, "a file");
    if (!path)
        return path.complaint();
    return Command(RecordCommand{std::move(*path)});
}

Parsed<Command> parse_save(Arguments& arguments) {
    const Span at = arguments.at_end() ? Span{} : arguments.peek().span;
    auto path = parse_path(arguments, "a file");
    if (!path)
        return path.complaint();
    if (path->ends_with(".aug"))
        return Command(SaveCommand{SaveCommand::Kind::session, std::move(*path), {}});
    if (!path->ends_with(".folded"))
        return Complaint{at, fmt::format("\"{}\" does not say what to save", *path),
                         fmt::format("collapsed stacks are called {0}.folded, what is in force "
                                     "{0}.aug",
                                     *path),
                         Error::Kind::usage};
    const auto filter = take_class(arguments);
    return Command(
        SaveCommand{SaveCommand::Kind::stacks, std::move(*path), filter.value_or(ClassFilter{})});
}

Parsed<Command> parse_source(Arguments& arguments) {
    auto path = parse_path(arguments, "a file");
    if (!path)
        return path.complaint();
    return Command(SourceCommand{std::move(*path)});
}

} // namespace

std::vector<CommandRow> file_commands() {
    return {
        {"record",
         "",
         "Files",
         "record FILE | off",
         "write the event stream to a file",
         "Starts with everything defined so far, so that `auger --replay FILE` answers the same\n"
         "commands elsewhere, without privileges.",
         "record slow.auger\nrecord off",
         {{.file = true, .words = "off"}, {}},
         parse_record},
        {"save",
         "",
         "Files",
         "save FILE.folded [CLASS] | FILE.aug",
         "write collapsed stacks for flame graph tools, or this session as commands",
         "FILE.folded: the stacks of the window in force, of all or of a class. FILE.aug: what is "
         "in\n"
         "force (target, filter, probes, split, only, sampling, window) as commands, for `source`\n"
         "and `auger -f`; neither a recording that is being written nor a window in the past. A "
         "file of\n"
         "that name is replaced.",
         "save all.folded\nsave slow.folded slow\nsave session.aug",
         {{.file = true}, {.words = "slow fast open outside all"}, {}},
         parse_save},
        {"source",
         "",
         "Files",
         "source FILE",
         "run the commands of a file",
         "The first command that fails ends it.",
         "source setup.aug",
         {{.file = true}, {}},
         parse_source},
    };
}

} // namespace auger
