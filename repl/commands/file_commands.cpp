// SPDX-License-Identifier: GPL-3.0-or-later
// Files: save, source.
#include "repl/commands/file_arguments.h"
#include "repl/commands/sample_selection.h"
#include "repl/commands/table.h"

#include <fmt/format.h>

namespace auger {
namespace {

// The names in lines that the help has room for.
std::string format_name_lines() {
    std::string lines;
    size_t column = 0;
    for (const ExportFormat& format : export_formats()) {
        const bool wrap = column + format.name.size() > 88;
        lines += (lines.empty() ? "  " : wrap ? "\n  " : " ") + std::string(format.name);
        column = (wrap ? 0 : column) + format.name.size() + 1;
    }
    return lines;
}

// A line a format, for the help.
std::string format_lines() {
    std::string lines;
    for (const ExportFormat& format : export_formats()) {
        const std::string_view extension = format.extensions.substr(0, format.extensions.find(' '));
        lines += fmt::format("  {:<21} {}\n", fmt::format("FILE{}", extension), format.about);
    }
    return lines;
}

// Kept: rows of the table refer to it.
std::string_view save_help() {
    static const std::string help =
        "The file's extension says as what:\n" + format_lines() +
        "  FILE.aug              what is in force (target, filter, probes, split, only, sampling,\n"
        "                        window, intervals, triggers, serve) as commands, for `source` "
        "and\n"
        "                        `auger -f`; neither a recording that is being written nor a "
        "window\n"
        "                        in the past\n"
        "--format says it by name, whatever the extension:\n" +
        format_name_lines() +
        "\n"
        "CLASS, by and under are as for `flame`, the window is the one in force. Names are whole, "
        "with\n"
        "parameters and template arguments, which the console leaves out. What was lost is told "
        "in\n"
        "the file. A file of that name is replaced if it is yours; links are not followed.";
    return help;
}

Parsed<Command> parse_save(Arguments& arguments) {
    SaveCommand command;
    const Span at = arguments.at_end() ? Span{} : arguments.peek().span;
    auto path = parse_path(arguments, "a file");
    if (!path)
        return path.complaint();
    command.path = std::move(*path);
    auto query = parse_sample_selection(arguments, [&]() -> Parsed<bool> {
        if (!arguments.take_if("--format"))
            return false;
        auto format = parse_format(arguments);
        if (!format)
            return format.complaint();
        command.format = *format;
        return true;
    });
    if (!query)
        return query.complaint();
    command.query = std::move(*query);
    if (!command.format)
        command.format = export_format_of_file(command.path);
    if (!command.format && !command.path.ends_with(".aug"))
        return Complaint{at, fmt::format("\"{}\" does not say what to save", command.path),
                         fmt::format("collapsed stacks are called {0}.folded, what is in force "
                                     "{0}.aug; `help save` lists all, --format names one",
                                     command.path),
                         Error::Kind::usage};
    return Command(std::move(command));
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
        {"save",
         "",
         "Files",
         "save FILE [CLASS] [by KEY] [under FUNCTION] [--format FORMAT]",
         "write what was collected for other tools, or this session as commands",
         save_help(),
         "save all.folded\nsave slow.pb.gz slow\nsave one.speedscope.json under "
         "handle\nsave out.txt --format perf-script\nsave session.aug",
         {{.file = true},
          {.words = "slow fast open outside taken not-taken all by under --format"},
          {.words = "by under --format"},
          {.after = "by", .words = group_words()},
          {.after = "under", .function = true},
          {.after = "--format", .words = format_names()}},
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
