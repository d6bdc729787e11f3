// SPDX-License-Identifier: GPL-3.0-or-later
// open: the calls that are running now. They are no part of what was collected, so they are asked
// for and shown at once.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"

namespace auger {
namespace {

struct Open final : Command {
    std::optional<ProbeRef> probe;
    std::optional<size_t> limit; // rows

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place))
            return *complaint;
        const auto id = shown_probe(session, probe);
        if (!id)
            return id.complaint();
        auto calls = session.backend().open_calls(*id);
        if (!calls)
            return complaint_of(calls.error(), place.at);
        session.backend().settle_symbols(session.options().settle);
        return show(
            session, place,
            [&] {
                return open_calls_view(session.model(), session.view_options(limit), *calls, *id);
            },
            [&]() -> Lines {
                std::span<const OpenCall> shown = *calls;
                if (limit && *limit < shown.size())
                    shown = shown.first(*limit);
                return open_calls_json(session.model(), shown);
            });
    }
};

Parsed<CommandPtr> parse_open(Arguments& arguments) {
    auto command = std::make_unique<Open>();
    if (!arguments.at_end() && !arguments.peek().text.starts_with('-'))
        command->probe = probe_ref(arguments.take());
    auto rows = take_rows(arguments);
    if (!rows)
        return rows.complaint();
    command->limit = *rows;
    return as_command(std::move(command));
}

} // namespace

CommandRow open_command() {
    return {
        .name = "open",
        .group = "Views",
        .usage = "open [PROBE] [-n ROWS]",
        .summary = "the calls that are running now, the oldest first",
        .details = R"help(
With their age and, as of now, what their threads wait for and their stacks: what a hanging service
needs. Without PROBE, of all probes. Functions of Python, Java, JavaScript, PHP, Ruby and Perl are in
these stacks as in those of samples. The stack of a running thread cannot be read. Goroutines that
are parked are shown with their stacks, and while `sample wall` watches them with what they are
parked for and for how long; an exchange shows its connection. A span whose key is a task of
Python's asyncio (`key task`) shows what that awaits, to the innermost line, through coroutines and
the tasks that they wait for. `assert open PROBE < 5` checks their number.)help",
        .examples = R"help(open
open handle -n 3)help",
        .arguments = {{.probe = true, .words = "-n"}, {.words = "-n"}, {}},
        .parse = parse_open,
    };
}

} // namespace auger
