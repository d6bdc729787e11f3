// SPDX-License-Identifier: GPL-3.0-or-later
// calls: the slow calls that were traced.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/listing.h"

namespace auger {
namespace {

struct Calls final : Command {
    Listing listing;

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
                return calls_view(model, session.view_options(listing.limit), *probe,
                                  listing.filter);
            },
            [&]() -> Result<Lines> {
                auto lines = calls_json(model, session.settings().window, *probe, listing.filter);
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
    return as_command(std::move(command));
}

} // namespace

CommandRow calls_command() {
    return {
        .name = "calls",
        .group = "Views",
        .usage = "calls [PROBE] [CLASS] [-n ROWS]",
        .summary = "the slow calls that were traced",
        .details = R"help(
Duration, thread, values and stack of each; without PROBE, of all probes. CLASS is that of the split's
call around it ("help classes"). `slow` traces calls.)help",
        .examples = R"help(calls
calls handle -n 5
calls recv slow+taken)help",
        .arguments = {{.probe = true, .words = class_words},
                      {.words = "-n slow fast taken not-taken"},
                      {}},
        .parse = parse_calls,
    };
}

} // namespace auger
