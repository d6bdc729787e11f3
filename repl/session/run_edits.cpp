// SPDX-License-Identifier: GPL-3.0-or-later
// Edits: carry out the difference, say what came of it, and keep what undo needs.
#include "repl/session/edits.h"
#include "repl/session/runner.h"

#include "repl/language/values.h"
#include "views/escape.h"
#include "views/format.h"

#include <fmt/format.h>

namespace auger {
namespace {

constexpr size_t undo_limit = 100; // edits
constexpr size_t place_rows = 20;
constexpr size_t process_rows = 10;

std::string probe_name(const ProbeSetting& probe) {
    return fmt::format("{} (probe {})", escape_untrusted(probe.text), probe.id.value);
}

// What an edit did, in a line.
struct Told {
    const Settings& before;
    const Settings& now;
    const ProbeSetting* probe; // that it is about; may be null

    bool added() const { return probe && !before.find(probe->id); }

    std::string operator()(const TargetCommand&) const {
        return fmt::format("target: {}", describe(now.target));
    }
    std::string operator()(const FilterCommand&) const {
        return fmt::format("filter: {}", describe(now.filter));
    }
    std::string operator()(const WindowCommand&) const {
        return fmt::format("window: {}", format_window(now.window));
    }
    std::string operator()(const WayOutCommand&) const {
        return fmt::format("exits of functions timed from now on: {}", describe(now.way_out));
    }
    std::string operator()(const SampleCommand&) const {
        if (now.sampling.rate_hz == 0)
            return "not sampling";
        return fmt::format(
            "sampling {} at {} Hz{}",
            now.sampling.wall ? "wall-clock time (running, blocked, waiting for a CPU)"
                              : "CPU time",
            now.sampling.rate_hz,
            now.target.kind == TargetSpec::Kind::none ? ", as soon as there is a target" : "");
    }
    std::string operator()(const TimeCommand&) const {
        return added() ? fmt::format("timing {}", probe_name(*probe))
                       : fmt::format("{} is timed already", probe_name(*probe));
    }
    std::string operator()(const SlowCommand& command) const {
        if (command.threshold.kind == Threshold::Kind::none)
            return fmt::format("slow calls of {} are no longer traced", probe_name(*probe));
        return fmt::format("tracing calls of {} > {}", probe_name(*probe),
                           spell_threshold(command.threshold));
    }
    std::string operator()(const SplitCommand& command) const {
        return fmt::format("split by {} > {}{}", probe_name(*probe),
                           spell_threshold(command.threshold),
                           command.so_far ? ", by the time elapsed so far" : "");
    }
    std::string operator()(const ThresholdCommand& command) const {
        const bool split = now.split.active && now.split.probe == probe->id;
        return fmt::format("{} {} > {}", split ? "split by" : "tracing calls of",
                           probe_name(*probe), spell_threshold(command.threshold));
    }
    std::string operator()(const UnsplitCommand&) const {
        return before.split.active ? "no split" : "there was no split";
    }
    std::string operator()(const DeleteCommand&) const {
        std::string names;
        for (const ProbeSetting& old : before.probes) {
            if (!now.find(old.id))
                names += (names.empty() ? "" : ", ") + probe_name(old);
        }
        return fmt::format("deleted {}", names);
    }
    std::string operator()(const RecordCommand&) const {
        if (now.recording.empty())
            return before.recording.empty()
                       ? "there was no recording"
                       : fmt::format("recorded {}", escape_untrusted(before.recording));
        return fmt::format("recording to {}", escape_untrusted(now.recording));
    }
    template <typename Other>
    std::string operator()(const Other&) const {
        return {};
    }
};

// The part of the line that a failure is about: the probe, where there is one.
struct Subject {
    Span whole;

    Span operator()(const TimeCommand& command) const { return command.probe.at; }
    Span operator()(const SlowCommand& command) const { return command.probe.at; }
    Span operator()(const SplitCommand& command) const { return command.probe.at; }
    template <typename Other>
    Span operator()(const Other&) const {
        return whole;
    }
};

// What a newcomer would do next; only where something new was made.
std::string next_step(const Command& command, const ProbeSetting* probe) {
    if (!probe)
        return {};
    if (std::holds_alternative<TimeCommand>(command))
        return fmt::format("\"hist {}\" shows its durations", probe->id.value);
    if (std::holds_alternative<SlowCommand>(command))
        return fmt::format("\"calls {}\" lists them", probe->id.value);
    if (std::holds_alternative<SplitCommand>(command))
        return "\"flame slow\" and \"diff\" show what slow calls do";
    return {};
}

} // namespace

Execution Session::change(Settings to) {
    const std::vector<Operation> operations = plan(settings_, to);
    Execution execution = executor_.run(operations);
    if (!execution.error)
        settings_ = std::move(to);
    for (const Rename& rename : execution.renames) {
        rename_probe(settings_, rename);
        for (UndoEntry& entry : undo_)
            rename_probe(entry.before, rename);
    }
    return execution;
}

Parsed<Reply> Session::run_edit(const ParsedCommand& command, const SourceLine& line) {
    const auto* record = std::get_if<RecordCommand>(&command.command);
    auto edited = edit(command.command, {settings_, executor_.fresh_id(), backend_.replaying()});
    if (!edited)
        return edited.complaint();
    const Settings before = settings_;
    Execution execution = change(std::move(edited->settings));
    if (execution.error)
        return complaint_of(*execution.error, std::visit(Subject{command.at}, command.command));
    // Taking the end of a recording back would overwrite what was recorded.
    const bool ended_recording = record && record->path.empty();
    if (!(settings_ == before) && !ended_recording) {
        undo_.push_back({line.text.substr(command.at.offset, command.at.length), before});
        if (undo_.size() > undo_limit)
            undo_.pop_front();
    }
    // The model learns of probes and splits through the stream.
    if (auto refreshed = backend_.refresh(); !refreshed)
        return complaint_of(refreshed.error(), command.at);

    const ProbeSetting* probe = edited->probe ? settings_.find(*edited->probe) : nullptr;
    const Told told{before, settings_, probe};
    std::string text = std::visit(told, command.command);
    if (!edited->note.empty())
        text += "; " + escape_untrusted(edited->note);
    JsonObject object = json_reply(command.row->name);
    if (probe) {
        object["probe"] = probe->id.value;
        object["text"] = escape_untrusted(probe->text);
    }
    std::string more;
    if (std::holds_alternative<TargetCommand>(command.command)) {
        const TargetStatus status = backend_.target_status();
        object["processes"] = json_target(status);
        more = process_lines(status, process_rows);
    }
    for (const auto& [id, report] : execution.reports) {
        add_report(object, report);
        more += report_lines(report, place_rows);
    }
    if (!execution.reports.empty()) {
        const std::string next = next_step(command.command, probe);
        if (!next.empty())
            more += "  " + next + "\n";
    }
    Reply reply = Reply::message(std::move(text), std::move(object));
    reply.text += more;
    return reply;
}

Parsed<Reply> Session::undo(Span at) {
    if (undo_.empty())
        return Complaint{at, "there is nothing to undo", "", Error::Kind::failed};
    Settings to = undo_.back().before;
    const std::string command = undo_.back().command;
    // A recording that has ended meanwhile stays ended: starting again would overwrite it.
    if (!to.recording.empty())
        to.recording = settings_.recording;
    Execution execution = change(std::move(to));
    if (execution.error)
        return complaint_of(*execution.error, at);
    undo_.pop_back();
    if (auto refreshed = backend_.refresh(); !refreshed)
        return complaint_of(refreshed.error(), at);
    JsonObject object = json_reply("undo");
    object["undone"] = escape_untrusted(command);
    std::string text = fmt::format("undid \"{}\"", escape_untrusted(command));
    for (const Rename& rename : execution.renames) {
        if (const ProbeSetting* probe = settings_.find(rename.to))
            text +=
                fmt::format("; {} is probe {} now", escape_untrusted(probe->text), rename.to.value);
    }
    return Reply::message(std::move(text), std::move(object));
}

} // namespace auger
