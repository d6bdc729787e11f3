// SPDX-License-Identifier: GPL-3.0-or-later
// Carries out the difference, says what came of it, and keeps what undo needs.
#include "repl/session/edit_command.h"

#include "loader/probes/probe_pattern.h"
#include "repl/session/probe_report.h"
#include "repl/session/session.h"
#include "views/escape.h"
#include "views/model/frame_kind.h"
#include "views/model/named_function.h"
#include "views/spell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace auger {
namespace {

constexpr size_t place_rows = 20;

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
Span place_of(const Error& error, const CommandPlace& place, Span otherwise) {
    const auto found = place_of(error.subject, place.line, place.at);
    if (!found)
        return otherwise;
    if (!error.at || error.at->offset > found->length)
        return *found;
    return {found->offset + error.at->offset,
            std::min(error.at->length, found->length - error.at->offset)};
}

// Of the name of a language's function (see NamedFunction), likewise.
std::string language_advice(const SymbolTables& symbols, const std::string& text) {
    if (!NamedFunction::has_language(text))
        return {};
    const NamedFunction wanted(text);
    for (uint32_t i = 0; i < symbols.locations(); i++)
        for (const FrameEntry& frame : symbols.found_frames(LocationId{i}))
            if (const std::string why = why_no_probe(symbols, frame.function);
                !why.empty() && wanted.is(symbols, frame))
                return fmt::format("this is {}: there is nothing to probe; \"flame in={}\" shows "
                                   "samples with it on the stack, \"only in {}\" keeps no others",
                                   why, spell_word(text), spell_word(text));
    // Which of them are written in C the backend says itself.
    if (is_native_name(text))
        return {};
    return fmt::format(
        "{} names functions that a runtime executes: there is nothing to probe; once "
        "such a function was sampled, \"flame in={}\" shows samples with it on the stack",
        text.substr(0, text.find(':')), spell_word(text));
}

// Of a text that is not a function's to probe: the frame that it is the name of, and what can be
// done with that.
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
    return language_advice(symbols, text);
}

} // namespace

std::string probe_name(const ProbeSetting& probe) {
    return fmt::format("{} (probe {})", escape_untrusted(probe.text), probe.id.value);
}

Parsed<Reply> EditCommand::run(Session& session, const CommandPlace& place) const {
    std::optional<SettingsEdit> made(std::in_place, session.edit_context());
    auto done = edit(*made);
    if (!done && session.read_recording()) {
        made.emplace(session.edit_context());
        done = edit(*made);
    }
    if (!done)
        return done.complaint();
    SettingsEdit& edited = *made;
    const Settings before = session.settings();
    Execution execution = session.editor().change(std::move(edited.settings));
    const ProbeRef* named = makes();
    if (execution.error) {
        if (std::string advice = named ? frame_advice(session.model(), named->text) : "";
            !advice.empty())
            execution.error->hint = std::move(advice);
        return complaint_of(*execution.error,
                            place_of(*execution.error, place, named ? named->at : place.at));
    }
    const Settings& now = session.settings();
    if (!(now == before) && can_be_undone(before))
        session.editor().note_undo(std::string(place.text()), before);
    // The model learns of probes and splits through the stream.
    if (auto refreshed = session.backend().refresh(); !refreshed)
        return complaint_of(refreshed.error(), place.at);

    const ProbeSetting* probe = edited.probe ? now.find(*edited.probe) : nullptr;
    std::string text = told(session, EditOutcome{before, now, probe});
    if (!edited.note.empty())
        text += "; " + escape_untrusted(edited.note);
    JsonObject object = json_reply(place.name);
    if (probe) {
        object["probe"] = probe->id.value;
        object["text"] = escape_untrusted(probe->text);
    }
    std::string lines;
    add_details(session, object, lines);
    for (const auto& [id, report] : execution.reports) {
        add_report(object, report);
        lines += report_lines(report, place_rows);
        if (report.pending && named) {
            if (const std::string advice = frame_advice(session.model(), named->text);
                !advice.empty())
                lines += fmt::format("  {}\n", escape_untrusted(advice));
        }
    }
    if (!execution.reports.empty() && probe) {
        const std::string next = next_step(*probe);
        if (!next.empty())
            lines += "  " + next + "\n";
    }
    Reply reply = Reply::message(std::move(text), std::move(object));
    reply.text += lines;
    return reply;
}

} // namespace auger
