// SPDX-License-Identifier: GPL-3.0-or-later
// status: target, rates, and the account of everything lost.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"

namespace auger {
namespace {

struct Status final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place))
            return *complaint;
        const StatusContext context = session.status_context();
        return show(
            session, place,
            [&] { return status_view(session.model(), session.view_options(), context); },
            [&] { return Lines{status_json(session.model(), context)}; });
    }
};

Parsed<CommandPtr> parse_status(Arguments&) {
    return as_command(std::make_unique<Status>());
}

} // namespace

CommandRow status_command() {
    return {
        .name = "status",
        .group = "Views",
        .usage = "status",
        .summary = "target, rates, and event accounting: what was lost, and why",
        .details = R"help(
Of all calls, entries = returns + unwound + open + dropped + filtered (by `only PROBE if ...`) +
expired (spans that were open for longer than their limit). Each span also has an account of its own:
begins = ended + unended + expired + open + dropped. For exchanges, those that were closed without an
answer are `unanswered`, and ambiguous ones are counted too. A stray end is one that found no open
span. Every lost event is counted by its cause. Of hosts (-H): a row for each, with how late and how exact its times are, what it sends,
and why it is lost.)help",
        .arguments = {{}},
        .parse = parse_status,
    };
}

} // namespace auger
