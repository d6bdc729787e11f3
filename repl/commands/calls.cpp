// SPDX-License-Identifier: GPL-3.0-or-later
// calls: the slow calls that were traced.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/listing.h"
#include "repl/language/stack_arguments.h"

namespace auger {
namespace {

constexpr std::string_view call_words =
    "slow fast open outside taken not-taken all -n --language --native --depth";

struct Calls final : Command {
    Listing listing;
    StackArguments stack;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place, listing.filter))
            return *complaint;
        const auto probe = shown_probe(session, listing.probe);
        if (!probe)
            return probe.complaint();
        const Model& model = session.model();
        return show(
            session, place,
            [&] {
                ViewOptions options = session.view_options(listing.limit);
                options.stack = stack.in_text();
                return calls_view(model, options, *probe, listing.filter);
            },
            [&]() -> Result<Lines> {
                auto lines = calls_json(model, session.settings().window, *probe, listing.filter,
                                        stack.in_json());
                // Oldest first: the newest are what a limit keeps, as in the text.
                if (lines && listing.limit && lines->size() > *listing.limit)
                    lines->erase(lines->begin(),
                                 lines->end() - static_cast<ptrdiff_t>(*listing.limit));
                return lines;
            });
    }
};

Parsed<CommandPtr> parse_calls(Arguments& arguments) {
    auto listing = parse_call_listing(arguments);
    if (!listing)
        return listing.complaint();
    auto command = std::make_unique<Calls>();
    command->listing = std::move(*listing);
    auto stack = take_stack_arguments(arguments, command->listing.limit);
    if (!stack)
        return stack.complaint();
    command->stack = *stack;
    return as_command(std::move(command));
}

} // namespace

CommandRow calls_command() {
    return {
        .name = "calls",
        .group = "Views",
        .usage = "calls [PROBE] [CLASS] [-n ROWS] [--language | --native] [--depth FRAMES]",
        .summary = "the slow calls that were traced",
        .details = R"help(
Duration, thread, values and stack of each; without PROBE, of all probes. CLASS is that of the split's
call around it ("help classes"). `slow` traces calls. --language shows only functions of Python,
Java, JavaScript, PHP, Ruby and Perl in the stacks, --native only the others. Of each stack the 16
innermost frames are shown, or FRAMES (`all`); JSON has all unless it is said.)help",
        .examples = R"help(calls
calls handle -n 5
calls recv slow+taken
calls handle --depth all)help",
        .arguments = {{.probe = true, .words = call_words},
                      {.words = "-n slow fast taken not-taken --language --native --depth"}},
        .parse = parse_calls,
    };
}

} // namespace auger
