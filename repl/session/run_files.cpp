// SPDX-License-Identifier: GPL-3.0-or-later
// The rest: files, and the session itself.
#include "repl/session/runner.h"

#include "repl/language/script.h"
#include "repl/session/spell_settings.h"
#include "views/escape.h"
#include "views/exports/export.h"
#include "views/exports/file_sink.h"

#include <fmt/format.h>

namespace auger {
namespace {

constexpr size_t source_limit = 16; // files that source each other

} // namespace

Parsed<Reply> Session::save_session(const SaveCommand& command, Span at) {
    const std::vector<std::string> commands = spell_settings(settings_);
    auto file = OutputFile::create(command.path);
    if (!file)
        return complaint_of(file.error(), at);
    file->write("# A session of auger: source it, or run it with auger -f.\n");
    for (const std::string& line : commands)
        file->write(line + "\n");
    if (auto written = file->commit(); !written)
        return complaint_of(written.error(), at);
    JsonObject object = json_reply("save");
    object["file"] = escape_untrusted(command.path);
    object["commands"] = commands.size();
    return Reply::message(
        fmt::format("saved {} commands to {}", commands.size(), escape_untrusted(command.path)),
        std::move(object));
}

Parsed<Reply> Session::save_export(const SaveCommand& command, Span at) {
    if (auto complaint = Runner{*this, at}.not_ready(command.query.filter))
        return *complaint;
    auto file = OutputFile::create(command.path);
    if (!file)
        return complaint_of(file.error(), at);
    OutputFileSink sink(*file);
    const ExportFormat& format = *command.format;
    const auto count = format.write(model_, ExportQuery{command.query, settings_.window}, sink);
    if (!count)
        return complaint_of(count.error(), at);
    if (auto written = file->commit(); !written)
        return complaint_of(written.error(), at);
    JsonObject object = json_reply("save");
    object["file"] = escape_untrusted(command.path);
    object["format"] = format.name;
    object[escape_untrusted(format.holds)] = *count;
    return Reply::message(
        fmt::format("saved {} {} to {}", *count, format.holds, escape_untrusted(command.path)),
        std::move(object));
}

Parsed<Reply> Session::run_source(const SourceCommand& command, Span at) {
    if (source_depth_ == source_limit)
        return Complaint{at, fmt::format("{} files source each other", source_limit),
                         "does one source itself?", Error::Kind::failed};
    auto text = read_script(command.path, interrupts_.wake_fd(), [this] {
        return interrupts_.stopping() || interrupts_.take_interrupt();
    });
    if (!text)
        return complaint_of(text.error(), at);
    ++source_depth_;
    const auto failure_before = std::exchange(first_failure_, std::nullopt);
    size_t lines = 0;
    bool ok = true;
    for (const ScriptLine& line : script_lines(command.path, *text)) {
        ++lines;
        ok = run_line(line);
        if (quit_ || interrupts_.stopping() || !output_.open() || (!ok && !options_.keep_going))
            break;
    }
    --source_depth_;
    const auto failure = std::exchange(first_failure_, failure_before);
    if (failure)
        return Complaint{at, fmt::format("{} failed", escape_untrusted(command.path)), "",
                         *failure};
    Reply reply; // the file's commands have answered for themselves
    JsonObject object = json_reply("source");
    object["file"] = escape_untrusted(command.path);
    object["lines"] = lines;
    reply.json = {json_line(object)};
    return reply;
}

Completion Session::complete(std::string_view line) const {
    CompletionSource source;
    source.probes = [this] {
        std::vector<std::string> texts;
        for (const ProbeSetting& probe : settings_.probes)
            texts.push_back(probe.text);
        return texts;
    };
    source.functions = [this](std::string_view prefix) {
        constexpr size_t limit = 200;
        return backend_.complete_function(prefix, limit);
    };
    source.files = complete_file;
    return auger::complete(line, source);
}

Parsed<Reply> Session::Runner::operator()(const SaveCommand& command) {
    return command.format ? session.save_export(command, at) : session.save_session(command, at);
}

Parsed<Reply> Session::Runner::operator()(const SourceCommand& command) {
    return session.run_source(command, at);
}

Parsed<Reply> Session::Runner::operator()(const EchoCommand& command) {
    return Reply::message(escape_untrusted(command.text), json_reply("echo"));
}

Parsed<Reply> Session::Runner::operator()(const UndoCommand&) {
    return session.undo(at);
}

Parsed<Reply> Session::Runner::operator()(const DoctorCommand&) {
    const auto capabilities = session.backend_.capabilities();
    JsonObject object = json_reply("doctor");
    object["capabilities"] = json_capabilities(capabilities);
    return Reply(capability_lines(capabilities), json_line(object));
}

Parsed<Reply> Session::Runner::operator()(const HelpCommand& command) {
    std::string text = help_text();
    for (const CommandRow& row : command_table()) {
        if (row.name == command.topic)
            text = help_text(row);
    }
    JsonObject object = json_reply("help");
    object["text"] = text;
    return Reply(std::move(text), json_line(object));
}

Parsed<Reply> Session::Runner::operator()(const QuitCommand&) {
    session.quit_ = true;
    Reply reply;
    reply.json = {json_line(json_reply("quit"))};
    return reply;
}

} // namespace auger
