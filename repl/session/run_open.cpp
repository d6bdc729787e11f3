// SPDX-License-Identifier: GPL-3.0-or-later
// open: the calls that are running now. They are no part of what was collected, so they are asked
// for and shown at once.
#include "repl/session/runner.h"

#include "views/json/json_views.h"

namespace auger {

Parsed<Reply> Session::Runner::operator()(const OpenCommand& command) {
    if (auto complaint = not_ready())
        return *complaint;
    const auto probe = session.shown_probe(command.probe);
    if (!probe)
        return probe.complaint();
    auto calls = session.backend_.open_calls(*probe);
    if (!calls)
        return complaint_of(calls.error(), at);
    session.backend_.settle_symbols(session.options_.settle);
    Reply reply;
    if (session.options_.json) {
        std::span<const OpenCall> shown = *calls;
        if (command.limit && *command.limit < shown.size())
            shown = shown.first(*command.limit);
        reply.json = open_calls_json(session.model_, shown);
    } else {
        const Canvas canvas =
            open_calls_view(session.model_, session.view_options(command.limit), *calls, *probe);
        reply.text = to_text(canvas, session.options_.view.colour);
    }
    return reply;
}

} // namespace auger
