// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of commands: dispatch, abbreviations, help, completion and what is saved all come
// from its rows (repl/commands/table.cpp).
#pragma once

#include "repl/language/lexer.h"
#include "repl/session/command.h"
#include "repl/session/setting.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct ParsedCommand {
    const CommandRow* row;
    CommandPtr command;
    Span at; // the command's whole text
};

class CommandTable {
  public:
    // In the order of `help`.
    explicit CommandTable(std::vector<CommandRow> rows);

    std::span<const CommandRow> rows() const { return rows_; }
    // What the commands edit, in the order in which settings are put in force and saved.
    SettingTable settings() const { return settings_; }

    // The row that `word` names or abbreviates; complains about none and about several.
    Parsed<const CommandRow*> find(const Word& word) const;
    Parsed<ParsedCommand> parse(const CommandText& text, std::string_view line) const;

  private:
    std::vector<CommandRow> rows_;
    std::vector<const SettingRow*> settings_;
};

} // namespace auger
