// SPDX-License-Identifier: GPL-3.0-or-later
// Looking at what is running now: open.
#include "repl/commands/table.h"

namespace auger {
namespace {

Parsed<Command> parse_open(Arguments& arguments) {
    OpenCommand command;
    if (!arguments.at_end() && !arguments.peek().text.starts_with('-'))
        command.probe = probe_ref(arguments.take());
    auto rows = take_rows(arguments);
    if (!rows)
        return rows.complaint();
    command.limit = *rows;
    return Command(std::move(command));
}

} // namespace

std::vector<CommandRow> open_commands() {
    return {
        {"open",
         "",
         "Views",
         "open [PROBE] [-n ROWS]",
         "the calls that are running now, the oldest first",
         "With their age and, read now, what their threads wait for and their stacks: what a "
         "stuck\n"
         "service needs. Of all probes when none is given. A thread that is running has no stack "
         "that\n"
         "could be read. `assert open PROBE < 5` counts them.",
         "open\nopen handle -n 3",
         {{.probe = true, .words = "-n"}, {.words = "-n"}, {}},
         parse_open},
    };
}

} // namespace auger
