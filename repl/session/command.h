// SPDX-License-Identifier: GPL-3.0-or-later
// Command: what a line asks for, ready to be carried out; and the row of the table by which a
// command is found, explained and completed. Each command is declared by one file of
// repl/commands, whole: what may be typed, help, what it does, what it says as text and as JSON.
#pragma once

#include "repl/language/argument_kind.h"
#include "repl/language/arguments.h"
#include "repl/session/reply.h"

#include <memory>
#include <string_view>
#include <vector>

namespace auger {

class Session;
struct SettingRow;

// Where a command was typed.
struct CommandPlace {
    std::string_view name; // the row's
    std::string_view line;
    Span at; // the command's whole text in it

    std::string_view text() const { return line.substr(at.offset, at.length); }
};

class Command {
  public:
    virtual ~Command() = default;

    virtual Parsed<Reply> run(Session& session, const CommandPlace& place) const = 0;
    // Whether the rules for names must be in force before it runs. A rule itself needs none, so
    // that names are made anew once for a file of a thousand rules.
    virtual bool needs_rules() const { return true; }
};

using CommandPtr = std::unique_ptr<const Command>;

// What a parse function ends with.
template <typename T>
Parsed<CommandPtr> as_command(std::unique_ptr<T> command) {
    return CommandPtr(std::move(command));
}

struct CommandRow {
    std::string_view name;
    std::string_view letter = {}; // a fixed abbreviation, or empty
    std::string_view group;       // heading in `help`
    std::string_view usage;
    std::string_view summary;            // one line
    std::string details = {};            // for `help COMMAND`, as wrap_help() reads it
    std::string_view examples = {};      // one a line
    std::vector<ArgumentKind> arguments; // the last one by place goes on for ever
    // Takes the words that belong to the command; who asked complains about what is left.
    Parsed<CommandPtr> (*parse)(Arguments&);
    // What it edits and no row before it has named.
    std::vector<const SettingRow*> settings = {};
};

} // namespace auger
