// SPDX-License-Identifier: GPL-3.0-or-later
// top: functions by their own and their total time.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/listing.h"

namespace auger {
namespace {

struct Top final : Command {
    Listing listing;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place, listing.filter))
            return *complaint;
        const Model& model = session.model();
        return show(
            session, place,
            [&] {
                return top_view(model, session.view_options(listing.limit), listing.filter,
                                listing.frames);
            },
            [&] {
                return Lines{top_json(model, session.settings().window, listing.filter,
                                      listing.limit, listing.frames)};
            });
    }
};

Parsed<CommandPtr> parse_top(Arguments& arguments) {
    auto listing = parse_function_listing(arguments);
    if (!listing)
        return listing.complaint();
    auto command = std::make_unique<Top>();
    command->listing = std::move(*listing);
    return as_command(std::move(command));
}

} // namespace

CommandRow top_command() {
    return {
        .name = "top",
        .group = "Views",
        .usage = "top [CLASS] [-n ROWS] [--language | --native]",
        .summary = "functions by their own and their total time",
        .details = R"help(
CLASS: "help classes". With `--language` only functions of an interpreter's or virtual machine's
language are listed, with `--native` only others: what runs in other frames is the own time of the
nearest listed function around it.)help",
        .examples = R"help(top
top slow -n 10
top slow --language
top =3)help",
        .arguments = {{.words = function_listing_words},
                      {.words = "-n --language --native"},
                      {.words = "-n --language --native"},
                      {.words = "--language --native"}},
        .parse = parse_top,
    };
}

} // namespace auger
