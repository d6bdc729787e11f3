// SPDX-License-Identifier: GPL-3.0-or-later
// The session itself: undo, doctor, help, quit.
#include "repl/commands/table.h"

namespace auger {
namespace {

Parsed<Command> parse_undo(Arguments&) {
    return Command(UndoCommand{});
}

Parsed<Command> parse_doctor(Arguments&) {
    return Command(DoctorCommand{});
}

Parsed<Command> parse_help(Arguments& arguments) {
    if (arguments.at_end())
        return Command(HelpCommand{});
    auto row = find_command(arguments.peek());
    if (!row)
        return row.complaint();
    arguments.take();
    return Command(HelpCommand{std::string((*row)->name)});
}

Parsed<Command> parse_quit(Arguments&) {
    return Command(QuitCommand{});
}

} // namespace

std::vector<CommandRow> session_commands() {
    return {
        {"undo",
         "",
         "Session",
         "undo",
         "take the last edit back",
         "Says what it took back. Again: the edit before. What was collected stays.",
         "",
         {{}},
         parse_undo},
        {"doctor",
         "",
         "Session",
         "doctor",
         "what this kernel and these privileges allow",
         "",
         "",
         {{}},
         parse_doctor},
        {"help",
         "h",
         "Session",
         "help [COMMAND]",
         "this list, or more on one command",
         "",
         "help\nhelp split",
         {{.command = true}, {}},
         parse_help},
        {"quit",
         "q",
         "Session",
         "quit",
         "end auger; nothing stays attached",
         "",
         "",
         {{}},
         parse_quit},
    };
}

} // namespace auger
