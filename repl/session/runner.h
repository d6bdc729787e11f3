// SPDX-License-Identifier: GPL-3.0-or-later
// One overload for each command that is no edit.
#pragma once

#include "repl/session/session.h"

namespace auger {

// An Error as a complaint about a part of the line.
Complaint complaint_of(const Error& error, Span at);

struct Session::Runner {
    Session& session;
    Span at;

    Parsed<Reply> operator()(const TargetCommand&);
    Parsed<Reply> operator()(const FilterCommand&);
    Parsed<Reply> operator()(const WindowCommand&);
    Parsed<Reply> operator()(const OverheadCommand&);
    Parsed<Reply> operator()(const OnlyCommand&);
    Parsed<Reply> operator()(const RulesCommand&);

    Parsed<Reply> operator()(const FlameCommand&);
    Parsed<Reply> operator()(const DiffCommand&);
    Parsed<Reply> operator()(const TopCommand&);
    Parsed<Reply> operator()(const ThreadsCommand&);
    Parsed<Reply> operator()(const NeighboursCommand&);
    Parsed<Reply> operator()(const HistCommand&);
    Parsed<Reply> operator()(const CallsCommand&);
    Parsed<Reply> operator()(const OpenCommand&);
    Parsed<Reply> operator()(const ProbesCommand&);
    Parsed<Reply> operator()(const SitesCommand&);
    Parsed<Reply> operator()(const StatusCommand&);
    Parsed<Reply> operator()(const ViewCommand&);

    Parsed<Reply> operator()(const RecordCommand&);
    Parsed<Reply> operator()(const TriggerCommand&);
    Parsed<Reply> operator()(const ServeCommand&);
    Parsed<Reply> operator()(const SaveCommand&);
    Parsed<Reply> operator()(const SourceCommand&);
    Parsed<Reply> operator()(const WaitCommand&);
    Parsed<Reply> operator()(const AssertCommand&);
    Parsed<Reply> operator()(const EchoCommand&);

    Parsed<Reply> operator()(const UndoCommand&);
    Parsed<Reply> operator()(const DoctorCommand&);
    Parsed<Reply> operator()(const HelpCommand&);
    Parsed<Reply> operator()(const QuitCommand&);

    // Edits never come here (see is_edit).
    template <typename Edit>
    Parsed<Reply> operator()(const Edit&) {
        return Reply{};
    }

    // Makes ready for looking at what was collected; complains also about classes that the
    // split lacks.
    std::optional<Complaint> not_ready(const ClassFilter& filter = {});

  private:
    // Only the form that is asked for is made: `draw` a Canvas, or `write` lines of JSON.
    template <typename Draw, typename Write>
    Parsed<Reply> show(Draw draw, Write write);
};

} // namespace auger
