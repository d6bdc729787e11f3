// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of commands: dispatch, abbreviations, help and completion all come from its rows.
#pragma once

#include "repl/commands/command.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// What may stand at one place of a command's arguments, for completion.
struct ArgumentKind {
    // Behind this word, wherever it stands; such kinds come last. Empty: by its place.
    std::string_view after = {};
    bool probe = false;    // probes that exist
    bool function = false; // functions of the target
    bool file = false;
    bool command = false;
    std::string_view words = {}; // separated by blanks
};

struct CommandRow {
    std::string_view name;
    std::string_view letter; // a fixed abbreviation, or empty
    std::string_view group;  // heading in `help`
    std::string_view usage;
    std::string_view summary;            // one line
    std::string_view details;            // paragraphs for `help COMMAND`
    std::string_view examples;           // one a line
    std::vector<ArgumentKind> arguments; // the last one by place goes on for ever
    Parsed<Command> (*parse)(Arguments&);
};

// In the order of `help`.
std::span<const CommandRow> command_table();

// The row that `word` names or abbreviates; complains about none and about several.
Parsed<const CommandRow*> find_command(const Word& word);

struct ParsedCommand {
    const CommandRow* row;
    Command command;
    Span at; // the command's whole text
};

// A line may hold several commands, one, or none.
Parsed<std::vector<CommandText>> commands_of(std::string_view line);
Parsed<ParsedCommand> parse_command(const CommandText& text, std::string_view line);

// `help` and `help COMMAND`, ending in a newline.
std::string help_text();
std::string help_text(const CommandRow& row);

// The groups of rows, one file each.
std::vector<CommandRow> target_commands();
std::vector<CommandRow> sampling_commands();
std::vector<CommandRow> probe_commands();
std::vector<CommandRow> split_commands();
std::vector<CommandRow> view_commands();
std::vector<CommandRow> neighbour_commands();
std::vector<CommandRow> open_commands();
std::vector<CommandRow> rule_commands();
std::vector<CommandRow> file_commands();
std::vector<CommandRow> service_commands();
std::vector<CommandRow> script_commands();
std::vector<CommandRow> session_commands();

} // namespace auger
