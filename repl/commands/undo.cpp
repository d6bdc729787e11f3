// SPDX-License-Identifier: GPL-3.0-or-later
// undo: the last edit is taken back.
#include "repl/commands/commands.h"
#include "repl/session/session.h"
#include "views/escape.h"

#include <fmt/format.h>

namespace auger {
namespace {

struct Undo final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        const UndoStack::Entry* last = session.editor().last_edit();
        if (!last)
            return Complaint{place.at, "there is nothing to undo", "", Error::Kind::failed};
        const std::string command = last->command;
        const Execution execution = session.editor().undo();
        if (execution.error)
            return complaint_of(*execution.error, place.at);
        if (auto refreshed = session.backend().refresh(); !refreshed)
            return complaint_of(refreshed.error(), place.at);
        JsonObject object = json_reply(place.name);
        object["undone"] = escape_untrusted(command);
        std::string text = fmt::format("undid \"{}\"", escape_untrusted(command));
        for (const Rename& rename : execution.renames) {
            if (const ProbeSetting* probe = session.settings().find(rename.to))
                text += fmt::format("; {} is probe {} now", escape_untrusted(probe->text),
                                    rename.to.value);
        }
        if (!execution.note.empty())
            text += "; " + escape_untrusted(execution.note);
        return Reply::message(std::move(text), std::move(object));
    }
};

Parsed<CommandPtr> parse_undo(Arguments&) {
    return as_command(std::make_unique<Undo>());
}

} // namespace

CommandRow undo_command() {
    return {
        .name = "undo",
        .group = "Session",
        .usage = "undo",
        .summary = "take the last edit back",
        .details = R"help(
Says what it took back. Repeat it for the edits before. What was collected is kept.)help",
        .arguments = {{}},
        .parse = parse_undo,
    };
}

} // namespace auger
