// SPDX-License-Identifier: GPL-3.0-or-later
// callers, callees: the functions around one.
#include "views/model/neighbours.h"
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/listing.h"
#include "repl/language/suggest.h"
#include "views/escape.h"
#include "views/short_name.h"

#include <fmt/format.h>

namespace auger {
namespace {

std::string module_name(const SymbolTables& symbols, FunctionId id) {
    const std::string& path = symbols.module(symbols.function(id).module).path;
    return path.substr(path.rfind('/') + 1);
}

Parsed<FunctionId> the_function(const SymbolTables& symbols, const std::string& text, Span at) {
    const std::vector<FunctionId> found = find_functions(symbols, text);
    if (found.size() == 1)
        return found[0];
    if (found.empty()) {
        std::vector<std::string> known;
        for (uint32_t i = 0; i < symbols.functions(); i++)
            known.push_back(short_name(symbols.name(FunctionId{i})));
        std::string hint = did_you_mean(text, known);
        return Complaint{at, fmt::format("no sample had a function \"{}\" on its stack", text),
                         hint.empty() ? "\"top\" lists those that were seen"
                                      : escape_untrusted(hint),
                         Error::Kind::failed};
    }
    constexpr size_t shown = 4;
    std::string hint = "it could be ";
    for (size_t i = 0; i < found.size() && i < shown; i++)
        hint += fmt::format("{}\"{}:{}\"", i ? ", " : "",
                            escape_untrusted(module_name(symbols, found[i])),
                            escape_untrusted(symbols.name(found[i])));
    if (found.size() > shown)
        hint += ", ...";
    return Complaint{at, fmt::format("\"{}\" is the name of {} functions", text, found.size()),
                     std::move(hint), Error::Kind::failed};
}

struct Neighbours final : Command {
    FunctionFocus::Kind kind = FunctionFocus::Kind::callers;
    std::string function;
    Span function_at;
    Listing listing;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place, listing.filter))
            return *complaint;
        const Model& model = session.model();
        auto found = the_function(model.symbols(), function, function_at);
        if (!found)
            return found.complaint();
        const FunctionFocus focus{*found, kind};
        return show(
            session, place,
            [&] {
                return neighbours_view(model, session.view_options(listing.limit), focus,
                                       listing.filter, listing.frames);
            },
            [&] {
                return Lines{neighbours_json(model, session.settings().window, focus,
                                             listing.filter, listing.limit, listing.frames)};
            });
    }
};

Parsed<CommandPtr> parse_neighbours(Arguments& arguments, FunctionFocus::Kind kind) {
    auto word = arguments.expect("a function");
    if (!word)
        return word.complaint();
    auto listing = parse_function_listing(arguments);
    if (!listing)
        return listing.complaint();
    auto command = std::make_unique<Neighbours>();
    command->kind = kind;
    command->function = word->text;
    command->function_at = word->span;
    command->listing = std::move(*listing);
    return as_command(std::move(command));
}

Parsed<CommandPtr> parse_callers(Arguments& arguments) {
    return parse_neighbours(arguments, FunctionFocus::Kind::callers);
}

Parsed<CommandPtr> parse_callees(Arguments& arguments) {
    return parse_neighbours(arguments, FunctionFocus::Kind::callees);
}

} // namespace

CommandRow callers_command() {
    return {
        .name = "callers",
        .group = "Views",
        .usage = "callers FUNCTION [CLASS] [-n ROWS] [--language | --native]",
        .summary = "who calls a function, by the time spent in it",
        .details = R"help(
FUNCTION is a name in full, or as views show it; LIBRARY:NAME where several files have one of that
name. Of the samples with it on the stack: how much lies in calls from each caller. Recursive calls
count as one. CLASS: "help classes". With `--language` or `--native` its callers are the nearest
functions of that kind ("help flame").)help",
        .examples = R"help(callers parse
callers recv slow -n 5)help",
        .arguments = {{.function = true},
                      {.words = function_listing_words},
                      {.words = "-n --language --native"},
                      {.words = "--language --native"}},
        .parse = parse_callers,
    };
}

CommandRow callees_command() {
    return {
        .name = "callees",
        .group = "Views",
        .usage = "callees FUNCTION [CLASS] [-n ROWS] [--language | --native]",
        .summary = "what a function calls, by the time spent there",
        .details = R"help(
As `callers`; what is left is self time.)help",
        .examples = R"help(callees handle
callees handle slow+taken)help",
        .arguments = {{.function = true},
                      {.words = function_listing_words},
                      {.words = "-n --language --native"},
                      {.words = "--language --native"}},
        .parse = parse_callees,
    };
}

} // namespace auger
