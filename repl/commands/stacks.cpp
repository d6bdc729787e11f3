// SPDX-License-Identifier: GPL-3.0-or-later
// stacks: what all threads do now. That is no part of what was collected, so it is asked for and
// shown at once.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/stack_arguments.h"

namespace auger {
namespace {

struct Stacks final : Command {
    std::optional<size_t> limit; // stacks
    StackArguments stack;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place))
            return *complaint;
        auto threads = session.backend().threads_now();
        if (!threads)
            return complaint_of(threads.error(), place.at);
        session.backend().settle_symbols(session.options().settle);
        return show(
            session, place,
            [&] {
                ViewOptions options = session.view_options(limit);
                options.stack = stack.in_text();
                return stacks_view(session.model(), options, *threads);
            },
            [&]() -> Lines {
                return stacks_json(session.model(), *threads, limit, stack.in_json());
            });
    }
};

Parsed<CommandPtr> parse_stacks(Arguments& arguments) {
    auto command = std::make_unique<Stacks>();
    auto stack = take_stack_arguments(arguments, command->limit);
    if (!stack)
        return stack.complaint();
    command->stack = *stack;
    return as_command(std::move(command));
}

} // namespace

CommandRow stacks_command() {
    return {
        .name = "stacks",
        .group = "Views",
        .usage = "stacks [-n ROWS] [--language | --native] [--depth FRAMES]",
        .summary = "what all threads do now: their stacks, equal ones together",
        .details = R"help(
What a process that hangs does, in every language, without a probe, a sample or a debugger: of each
thread of the target what it waits for and its stack, as of now, as pstack, jstack and py-spy dump
tell it. Threads of a process with one stack are shown together, the most first. The target is not
stopped: a thread that went on meanwhile is said to have done so, and the stack of one that runs
cannot be read (`flame` has those). `filter` leaves threads out. --language shows only functions of
Python, Java, JavaScript, PHP, Ruby and Perl, --native only the others. Of each stack the 16
innermost frames are shown, or FRAMES (`all`). -n shows so many stacks (30). JSON has one object for
each thread, of -n threads if that is said, with whole stacks unless --depth is. Goroutines that are
parked are on no thread: `open` shows those in timed calls.)help",
        .examples = R"help(stacks
stacks --language --depth all
stacks -n 5)help",
        .arguments = {{.words = "-n --language --native --depth"}},
        .parse = parse_stacks,
    };
}

} // namespace auger
