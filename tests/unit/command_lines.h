// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of the console's language for tests: parsed, or what is wrong with them.
#pragma once

#include "repl/commands/table.h"

#include <gtest/gtest.h>

#include <string>

namespace auger {

inline Parsed<CommandPtr> parse(const std::string& line) {
    auto commands = lex(line);
    if (!commands)
        return commands.complaint();
    auto parsed = command_table().parse(commands->at(0), line);
    if (!parsed)
        return parsed.complaint();
    return std::move(parsed->command);
}

// "column: message (hint)" of what is wrong; "fine".
inline std::string wrong(const std::string& line) {
    auto command = parse(line);
    if (command)
        return "fine";
    const Complaint& complaint = command.complaint();
    EXPECT_LE(complaint.at.offset, line.size());
    EXPECT_EQ(complaint.kind, Error::Kind::usage);
    return std::to_string(complaint.at.offset + 1) + ": " + complaint.message +
           (complaint.hint.empty() ? "" : " (" + complaint.hint + ")");
}

inline void expect_fine(const std::string& line) {
    EXPECT_EQ(wrong(line), "fine") << line;
}

} // namespace auger
