// SPDX-License-Identifier: GPL-3.0-or-later
// Looking around one function: callers, callees.
#include "repl/commands/table.h"

namespace auger {
namespace {

Parsed<Command> parse_neighbours(Arguments& arguments, FunctionFocus::Kind kind) {
    auto word = arguments.expect("a function");
    if (!word)
        return word.complaint();
    NeighboursCommand command{kind, word->text, word->span, {}, {}};
    if (!arguments.at_end() && arguments.peek().text != "-n") {
        auto filter = class_of(arguments.take());
        if (!filter)
            return filter.complaint();
        command.filter = std::move(*filter);
    }
    auto rows = take_rows(arguments);
    if (!rows)
        return rows.complaint();
    command.limit = *rows;
    return Command(std::move(command));
}

Parsed<Command> parse_callers(Arguments& arguments) {
    return parse_neighbours(arguments, FunctionFocus::Kind::callers);
}

Parsed<Command> parse_callees(Arguments& arguments) {
    return parse_neighbours(arguments, FunctionFocus::Kind::callees);
}

constexpr std::string_view after_function = "slow fast open outside taken not-taken all -n";

} // namespace

std::vector<CommandRow> neighbour_commands() {
    return {
        {"callers",
         "",
         "Views",
         "callers FUNCTION [CLASS] [-n ROWS]",
         "who calls a function, by the time spent in it",
         "FUNCTION is its name, in full or as views show it; LIBRARY:NAME where several files have "
         "one of\n"
         "that name. Of the samples with it on the stack: how much lies in calls from each caller. "
         "A\n"
         "function that calls itself is one. CLASS as for `flame`.",
         "callers parse\ncallers recv slow -n 5",
         {{.function = true}, {.words = after_function}, {.words = "-n"}, {}},
         parse_callers},
        {"callees",
         "",
         "Views",
         "callees FUNCTION [CLASS] [-n ROWS]",
         "what a function calls, by the time spent there",
         "As `callers`; what is left is its own time.",
         "callees handle\ncallees handle slow+taken",
         {{.function = true}, {.words = after_function}, {.words = "-n"}, {}},
         parse_callees},
    };
}

} // namespace auger
