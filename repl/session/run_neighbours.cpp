// SPDX-License-Identifier: GPL-3.0-or-later
// callers, callees: finds the function that is meant.
#include "repl/language/suggest.h"
#include "repl/session/runner.h"
#include "views/escape.h"
#include "views/json/json_views.h"
#include "views/model/neighbours.h"
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

} // namespace

Parsed<Reply> Session::Runner::operator()(const NeighboursCommand& command) {
    if (auto complaint = not_ready(command.filter))
        return *complaint;
    auto function = the_function(session.model_.symbols(), command.function, command.function_at);
    if (!function)
        return function.complaint();
    const FunctionFocus focus{*function, command.kind};
    Reply reply;
    if (session.options_.json)
        reply.json.push_back(
            neighbours_json(session.model_, session.settings_.window, focus, command.filter));
    else
        reply.text = to_text(neighbours_view(session.model_, session.view_options(command.limit),
                                             focus, command.filter),
                             session.options_.view.colour);
    return reply;
}

} // namespace auger
