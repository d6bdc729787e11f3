// SPDX-License-Identifier: GPL-3.0-or-later
// Edits: carry out the difference, say what came of it, and keep what undo needs.
#include "repl/session/edits.h"
#include "repl/session/runner.h"

#include "repl/language/values.h"
#include "views/escape.h"
#include "views/format.h"
#include "views/model/frame_kind.h"
#include "views/spell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

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
    uint64_t first_ns;         // when observation began

    bool added() const { return probe && !before.find(probe->id); }

    std::string operator()(const TargetCommand&) const {
        return fmt::format("target: {}", describe(now.target));
    }
    std::string operator()(const FilterCommand&) const {
        return fmt::format("filter: {}", describe(now.filter));
    }
    std::string operator()(const WindowCommand&) const {
        return fmt::format("window: {}", format_window(now.window, first_ns));
    }
    std::string operator()(const WayOutCommand&) const {
        return fmt::format("exits of functions timed from now on: {}", describe(now.way_out));
    }
    std::string operator()(const SampleCommand&) const {
        const SamplingSettings& sampling = now.sampling;
        if (sampling.rate_hz == 0 && sampling.raised_hz == 0)
            return "not sampling";
        std::string rate = fmt::format("{} Hz", sampling.rate_hz);
        if (sampling.raised_hz)
            rate = fmt::format("{} Hz where the condition holds, {} elsewhere", sampling.raised_hz,
                               sampling.rate_hz ? rate : "not");
        if (sampling.wall && sampling.waits_hz)
            rate += fmt::format(", waits at {} Hz", sampling.waits_hz);
        return fmt::format(
            "sampling {}{} at {}{}",
            sampling.wall ? "wall-clock time (running, blocked, waiting for a CPU)" : "CPU time",
            sampling.wakers ? " with who ends waits" : "", rate,
            now.target.kind == TargetSpec::Kind::none ? ", as soon as there is a target" : "");
    }
    std::string operator()(const OverheadCommand&) const { return describe(now.overhead); }
    std::string operator()(const TimeCommand& command) const {
        if (command.off)
            return fmt::format("{} is off: what it collected stays", probe_name(*probe));
        if (const ProbeSetting* old = before.find(probe->id); old && old->off)
            return fmt::format("timing {} again", probe_name(*probe));
        return added() ? fmt::format("timing {}", probe_name(*probe))
                       : fmt::format("{} is timed already", probe_name(*probe));
    }
    std::string operator()(const SlowCommand& command) const {
        if (command.threshold.kind == Threshold::Kind::none)
            return fmt::format("slow calls of {} are no longer traced", probe_name(*probe));
        std::string text = fmt::format("tracing calls of {} > {}", probe_name(*probe),
                                       spell_threshold(command.threshold));
        if (!command.slow_if.empty())
            text += " if " + escape_untrusted(command.slow_if);
        return text;
    }
    std::string operator()(const SplitCommand&) const {
        const SplitSetting& split = now.split;
        std::string text = fmt::format("split by {}", probe_name(*probe));
        if (split.threshold.kind != Threshold::Kind::none)
            text += fmt::format(" > {}{}", spell_threshold(split.threshold),
                                split.so_far ? ", by the time elapsed so far" : "");
        if (!split.branch.empty())
            text += fmt::format(", taken or not {}", escape_untrusted(split.branch));
        if (!split.label.empty())
            text += fmt::format(", by {}", escape_untrusted(split.label));
        return text;
    }
    std::string operator()(const OnlyCommand& command) const {
        switch (command.kind) {
        case OnlyCommand::Kind::calls:
            return command.only_if.empty()
                       ? fmt::format("every call of {} counts", probe_name(*probe))
                       : fmt::format("only calls of {} count if {}", probe_name(*probe),
                                     escape_untrusted(command.only_if));
        case OnlyCommand::Kind::condition:
            return fmt::format("only {}", escape_untrusted(now.only.text));
        default:
            return before.only.text.empty() ? "there was no `only`" : "everything is kept";
        }
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
    std::string operator()(const RecordCommand& command) const {
        if (command.kind == RecordCommand::Kind::stream)
            return fmt::format("recording to {}", escape_untrusted(now.recording));
        if (command.kind == RecordCommand::Kind::intervals)
            return describe(now.intervals);
        std::string text;
        if (!before.recording.empty())
            text = fmt::format("recorded {}", escape_untrusted(before.recording));
        if (!before.intervals.folder.empty())
            text += fmt::format("{}no more intervals are recorded to {}", text.empty() ? "" : "; ",
                                escape_untrusted(before.intervals.folder));
        return text.empty() ? "there was no recording" : text;
    }
    std::string operator()(const TriggerCommand& command) const {
        switch (command.kind) {
        case TriggerCommand::Kind::slow:
            return describe(now.triggers.back(), *probe);
        case TriggerCommand::Kind::off_probe:
            return fmt::format("slow calls of {} trigger nothing", probe_name(*probe));
        default:
            return "slow calls trigger nothing";
        }
    }
    std::string operator()(const ServeCommand& command) const {
        return command.kind == ServeCommand::Kind::off
                   ? now.serving.empty() ? std::string("serving nowhere")
                                         : fmt::format("not serving at {}", command.address)
                   : std::string(); // where, is known once it listens
    }
    std::string operator()(const RuleCommand& command) const {
        if (now.rules == before.rules)
            return "this rule is in force already";
        return fmt::format("rule {}: {}", now.rules.size(),
                           escape_untrusted(spell_rule(command.rule)));
    }
    std::string operator()(const RulesCommand&) const {
        if (now.rules.empty())
            return before.rules.empty() ? "there were no rules" : "no rules";
        return fmt::format("{} rule{} left", now.rules.size(), now.rules.size() == 1 ? "" : "s");
    }
    template <typename Other>
    std::string operator()(const Other&) const {
        return {};
    }
};

// Where `subject` stands in a part of the line, as a whole word or more; nothing when nowhere.
std::optional<Span> place_of(std::string_view subject, std::string_view line, Span part) {
    const auto of_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    const std::string_view text = line.substr(0, part.offset + part.length);
    for (size_t at = part.offset;
         !subject.empty() && (at = text.find(subject, at)) != std::string_view::npos; ++at) {
        const size_t end = at + subject.size();
        if ((at == 0 || !of_word(text[at - 1]) || !of_word(subject.front())) &&
            (end == text.size() || !of_word(text[end]) || !of_word(subject.back())))
            return Span{at, subject.size()};
    }
    return std::nullopt;
}

// What an error of the backend is about, as exactly as it says; else `otherwise`.
Span place_of(const Error& error, std::string_view line, Span part, Span otherwise) {
    const auto found = place_of(error.subject, line, part);
    if (!found)
        return otherwise;
    if (!error.at || error.at->offset > found->length)
        return *found;
    return {found->offset + error.at->offset,
            std::min(error.at->length, found->length - error.at->offset)};
}

// The part of the line that a failure is about: the probe, where there is one.
struct PartAbout {
    Span whole;

    Span operator()(const TimeCommand& command) const { return command.probe.at; }
    Span operator()(const SlowCommand& command) const { return command.probe.at; }
    Span operator()(const SplitCommand& command) const {
        return command.probe ? command.probe->at : whole;
    }
    template <typename Other>
    Span operator()(const Other&) const {
        return whole;
    }
};

// The probe that the command makes, if it may make one.
const ProbeRef* probe_named(const Command& command) {
    if (const auto* time = std::get_if<TimeCommand>(&command))
        return &time->probe;
    if (const auto* slow = std::get_if<SlowCommand>(&command))
        return &slow->probe;
    if (const auto* split = std::get_if<SplitCommand>(&command))
        return split->probe ? &*split->probe : nullptr;
    return nullptr;
}

// What a newcomer would do next; only where something new was made.
std::string next_step(const Command& command, const ProbeSetting* probe) {
    if (!probe)
        return {};
    if (std::holds_alternative<TimeCommand>(command))
        return fmt::format("\"hist {}\" shows its durations", probe->id.value);
    if (std::holds_alternative<SlowCommand>(command))
        return fmt::format("\"calls {}\" lists them", probe->id.value);
    if (const auto* split = std::get_if<SplitCommand>(&command))
        return split->threshold ? "\"flame slow\" and \"diff\" show what slow calls do"
               : split->branch  ? "\"flame taken\" and \"diff taken not-taken\" show the difference"
                                : "\"flame\" lists the values, and \"flame =VALUE\" shows one";
    return {};
}

// Of a text that is no function's to probe: the frame that it is the name of, and what can be done
// with that.
std::string frame_advice(const Model& model, const std::string& text) {
    const SymbolTables& symbols = model.symbols();
    for (const FunctionId id : functions_meant(symbols, text)) {
        const std::string why = why_no_probe(symbols, id);
        if (why.empty())
            continue;
        return fmt::format("the frame of this name is {}: there is nothing to probe; \"flame under "
                           "{}\" and \"callers {}\" show its time",
                           why, spell_word(text), spell_word(text));
    }
    return {};
}

} // namespace

Execution Session::change(Settings to) {
    auto rules = Rules::compile(to.rules, rules_);
    if (!rules)
        return {rules.error(), {}, {}};
    const std::vector<Operation> operations = plan(settings_, to);
    Execution execution = executor_.run(operations);
    if (!execution.error) {
        if (!(settings_.rules == to.rules)) {
            rules_ = std::move(*rules);
            rules_told_ = false;
        }
        settings_ = std::move(to);
    }
    for (const Rename& rename : execution.renames) {
        rename_probe(settings_, rename);
        for (UndoEntry& entry : undo_)
            rename_probe(entry.before, rename);
    }
    return execution;
}

void Session::note_undo(std::string command, Settings before) {
    undo_.push_back({std::move(command), std::move(before)});
    if (undo_.size() > undo_limit)
        undo_.pop_front();
}

// Names are decided anew, which takes a while: once for a file of thousands of rules.
void Session::tell_rules() {
    if (!std::exchange(rules_told_, true))
        model_.set_rules(rules_);
}

Parsed<Reply> Session::run_edit(const ParsedCommand& command, const ScriptLine& line) {
    const auto* record = std::get_if<RecordCommand>(&command.command);
    auto edited = edit(command.command, {settings_, executor_.fresh_id(), backend_.replaying(),
                                         model_.first_ns(), model_.now_ns()});
    if (!edited)
        return edited.complaint();
    const Settings before = settings_;
    Execution execution = change(std::move(edited->settings));
    const ProbeRef* named = probe_named(command.command);
    if (execution.error && named) {
        if (std::string advice = frame_advice(model_, named->text); !advice.empty())
            execution.error->hint = std::move(advice);
    }
    if (execution.error)
        return complaint_of(*execution.error,
                            place_of(*execution.error, line.text, command.at,
                                     std::visit(PartAbout{command.at}, command.command)));
    // Taking the end of a recording back would overwrite what was recorded.
    const bool ended_recording =
        record && record->kind == RecordCommand::Kind::off && !before.recording.empty();
    if (!(settings_ == before) && !ended_recording) {
        note_undo(line.text.substr(command.at.offset, command.at.length), before);
    }
    // The model learns of probes and splits through the stream.
    if (auto refreshed = backend_.refresh(); !refreshed)
        return complaint_of(refreshed.error(), command.at);

    const ProbeSetting* probe = edited->probe ? settings_.find(*edited->probe) : nullptr;
    const Told told{before, settings_, probe, model_.first_ns()};
    std::string text = std::visit(told, command.command);
    const auto* serve = std::get_if<ServeCommand>(&command.command);
    if (serve && serve->kind == ServeCommand::Kind::address)
        text = fmt::format("{}", fmt::join(serving_lines(serve->address), "\n"));
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
        if (waits_for_target())
            more =
                fmt::format("  no process{} is called so now; those that start will be observed\n",
                            escape_untrusted(condition_text(status.spec)));
    }
    for (const auto& [id, report] : execution.reports) {
        add_report(object, report);
        more += report_lines(report, place_rows);
        if (report.pending && named) {
            if (const std::string advice = frame_advice(model_, named->text); !advice.empty())
                more += fmt::format("  {}\n", escape_untrusted(advice));
        }
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
