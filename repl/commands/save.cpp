// SPDX-License-Identifier: GPL-3.0-or-later
// save: what was collected, for other tools; or what is in force, as commands.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/file_arguments.h"
#include "repl/language/sample_selection.h"
#include "views/escape.h"
#include "views/exports/export.h"
#include "views/exports/file_sink.h"

#include <fmt/format.h>

namespace auger {
namespace {

struct SaveSession final : Command {
    std::string path;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        const std::vector<std::string> commands =
            spell_settings(session.settings(), session.commands().settings());
        auto file = OutputFile::create(path);
        if (!file)
            return complaint_of(file.error(), place.at);
        file->write("# A session of auger: source it, or run it with auger -f.\n");
        for (const std::string& line : commands)
            file->write(line + "\n");
        if (auto written = file->commit(); !written)
            return complaint_of(written.error(), place.at);
        JsonObject object = json_reply(place.name);
        object["file"] = escape_untrusted(path);
        object["commands"] = commands.size();
        return Reply::message(
            fmt::format("saved {} commands to {}", commands.size(), escape_untrusted(path)),
            std::move(object));
    }
};

struct SaveExport final : Command {
    std::string path;
    const ExportFormat* format = nullptr;
    SampleSelection query;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place, query.filter))
            return *complaint;
        auto file = OutputFile::create(path);
        if (!file)
            return complaint_of(file.error(), place.at);
        OutputFileSink sink(*file);
        ExportQuery exported{query, session.settings().window};
        exported.shipping = session.services().shippers().status();
        const auto count = format->write(session.model(), exported, sink);
        if (!count)
            return complaint_of(count.error(), place.at);
        if (auto written = file->commit(); !written)
            return complaint_of(written.error(), place.at);
        JsonObject object = json_reply(place.name);
        object["file"] = escape_untrusted(path);
        object["format"] = format->name;
        object[escape_untrusted(format->holds)] = *count;
        return Reply::message(
            fmt::format("saved {} {} to {}", *count, format->holds, escape_untrusted(path)),
            std::move(object));
    }
};

// A line a format, for the help.
std::string format_lines() {
    std::string lines;
    for (const ExportFormat& format : export_formats()) {
        const std::string_view extension = format.extensions.substr(0, format.extensions.find(' '));
        lines += fmt::format("  {:<21} {}\n", fmt::format("FILE{}", extension), format.about);
    }
    return lines;
}

std::string save_details() {
    return "The file's extension says as what:\n" + format_lines() +
           R"help(  FILE.aug              what is in force (target, filter, exit, probes, split, only,
                        explain, sampling, overhead, window, rules, intervals, triggers,
                        serve, ship) as commands, for `source` and `auger -f`; neither a
                        recording that is being written nor a window in the past
--format says it by name, whatever the extension: )help" +
           format_names() + R"help(

CLASS, by and under are as for `flame`, the window is the one in force. Names are whole, with
parameters and template arguments, which the console leaves out. What was lost is told in the file.
A file of that name is replaced if it is yours; links are not followed.)help";
}

Parsed<CommandPtr> parse_save(Arguments& arguments) {
    auto to_export = std::make_unique<SaveExport>();
    const Span at = arguments.at_end() ? Span{} : arguments.peek().span;
    auto path = parse_path(arguments, "a file");
    if (!path)
        return path.complaint();
    auto query = parse_sample_selection(arguments, [&]() -> Parsed<bool> {
        if (!arguments.take_if("--format"))
            return false;
        auto format = parse_format(arguments);
        if (!format)
            return format.complaint();
        to_export->format = *format;
        return true;
    });
    if (!query)
        return query.complaint();
    if (!to_export->format)
        to_export->format = export_format_of_file(*path);
    if (to_export->format) {
        to_export->path = std::move(*path);
        to_export->query = std::move(*query);
        return as_command(std::move(to_export));
    }
    if (!path->ends_with(".aug"))
        return Complaint{at, fmt::format("\"{}\" does not say what to save", *path),
                         fmt::format("collapsed stacks are called {0}.folded, what is in force "
                                     "{0}.aug; `help save` lists all, --format names one",
                                     *path),
                         Error::Kind::usage};
    auto session = std::make_unique<SaveSession>();
    session->path = std::move(*path);
    return as_command(std::move(session));
}

} // namespace

CommandRow save_command() {
    return {
        .name = "save",
        .group = "Files",
        .usage =
            "save FILE [CLASS] [by KEY] [under FUNCTION] [--language | --native] [--format FORMAT]",
        .summary = "write what was collected for other tools, or this session as commands",
        .details = save_details(),
        .examples = R"help(save all.folded
save slow.pb.gz slow
save one.speedscope.json under handle
save out.txt --format perf-script
save session.aug)help",
        .arguments = {{.file = true},
                      {.words = "slow fast open outside taken not-taken all by under --language "
                                "--native --format"},
                      {.words = "by under --language --native --format"},
                      {.after = "by", .words = group_words()},
                      {.after = "under", .function = true},
                      {.after = "--format", .words = format_names()}},
        .parse = parse_save,
    };
}

} // namespace auger
