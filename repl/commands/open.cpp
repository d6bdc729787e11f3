// SPDX-License-Identifier: GPL-3.0-or-later
// open: the calls that are running now. They are no part of what was collected, so they are asked
// for and shown at once.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/stack_arguments.h"

namespace auger {
namespace {

struct Open final : Command {
    std::optional<ProbeRef> probe;
    std::optional<size_t> limit; // rows
    StackArguments stack;

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
                ViewOptions options = session.view_options(limit);
                options.stack = stack.in_text();
                return open_calls_view(session.model(), options, *calls, *id);
            },
            [&]() -> Lines {
                std::span<const OpenCall> shown = *calls;
                if (limit && *limit < shown.size())
                    shown = shown.first(*limit);
                return open_calls_json(session.model(), shown, stack.in_json());
            });
    }
};

Parsed<CommandPtr> parse_open(Arguments& arguments) {
    auto command = std::make_unique<Open>();
    if (!arguments.at_end() && !arguments.peek().text.starts_with('-'))
        command->probe = probe_ref(arguments.take());
    auto stack = take_stack_arguments(arguments, command->limit);
    if (!stack)
        return stack.complaint();
    command->stack = *stack;
    return as_command(std::move(command));
}

} // namespace

CommandRow open_command() {
    return {
        .name = "open",
        .group = "Views",
        .usage = "open [PROBE] [-n ROWS] [--language | --native] [--depth FRAMES]",
        .summary = "the calls that are running now, the oldest first",
        .details = R"help(
With their age and, as of now, what their threads wait for and their stacks: what a hanging service
needs. Without PROBE, of all probes. Functions of Python, Java, JavaScript, PHP, Ruby and Perl are in
these stacks as in those of samples; --language shows these alone, --native the others. Of each
stack the 16 innermost frames are shown, or FRAMES (`all`); JSON has all unless it is said. The stack
of a running thread cannot be read. Goroutines that are parked are shown with their stacks, and while
`sample wall` watches them with what they are parked for and for how long; an exchange shows its
connection. A span whose key is a task of
Python's asyncio (`key task`) shows what that awaits, to the innermost line, through coroutines and
the tasks that they wait for. `assert open PROBE < 5` checks their number.)help",
        .examples = R"help(open
open handle -n 3
open --language --depth all)help",
        .arguments = {{.probe = true, .words = "-n --language --native --depth"},
                      {.words = "-n --language --native --depth"}},
        .parse = parse_open,
    };
}

} // namespace auger
