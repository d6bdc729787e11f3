// SPDX-License-Identifier: GPL-3.0-or-later
// threads: what each thread's time was spent on.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/listing.h"

namespace auger {
namespace {

struct Threads final : Command {
    Listing listing;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place, listing.filter))
            return *complaint;
        const Model& model = session.model();
        return show(
            session, place,
            [&] {
                return threads_view(model, session.view_options(listing.limit), listing.filter);
            },
            [&] {
                return Lines{
                    threads_json(model, session.settings().window, listing.filter, listing.limit)};
            });
    }
};

Parsed<CommandPtr> parse_threads(Arguments& arguments) {
    auto listing = parse_listing(arguments);
    if (!listing)
        return listing.complaint();
    auto command = std::make_unique<Threads>();
    command->listing = std::move(*listing);
    return as_command(std::move(command));
}

} // namespace

CommandRow threads_command() {
    return {
        .name = "threads",
        .group = "Views",
        .usage = "threads [CLASS] [-n ROWS]",
        .summary = "threads, and what each one's time was spent on",
        .details = R"help(
In shares of the time that the window covers: a thread that is always running has 100 %. CLASS: "help
classes".)help",
        .examples = R"help(threads
threads slow -n 10)help",
        .arguments = {{.words = listing_words}, {.words = "-n"}, {}},
        .parse = parse_threads,
    };
}

} // namespace auger
