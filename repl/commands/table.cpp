// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/commands/table.h"

#include "repl/language/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {

std::span<const CommandRow> command_table() {
    static const std::vector<CommandRow> rows = [] {
        std::vector<CommandRow> all;
        for (auto* group : {target_commands, sampling_commands, probe_commands, split_commands,
                            view_commands, neighbour_commands, open_commands, rule_commands,
                            file_commands, service_commands, script_commands, session_commands})
            std::ranges::move(group(), std::back_inserter(all));
        return all;
    }();
    return rows;
}

Parsed<const CommandRow*> find_command(const Word& word) {
    std::vector<const CommandRow*> beginning;
    std::vector<std::string> names;
    for (const CommandRow& row : command_table()) {
        if (word.text == row.name || (!row.letter.empty() && word.text == row.letter))
            return &row;
        if (!word.text.empty() && row.name.starts_with(word.text))
            beginning.push_back(&row);
        names.emplace_back(row.name);
    }
    if (beginning.size() == 1)
        return beginning[0];
    if (beginning.size() > 1) {
        std::vector<std::string_view> candidates;
        for (const CommandRow* row : beginning)
            candidates.push_back(row->name);
        return Complaint{word.span, fmt::format("\"{}\" is ambiguous", word.text),
                         fmt::format("one of: {}", fmt::join(candidates, ", ")),
                         Error::Kind::usage};
    }
    std::string hint = did_you_mean(word.text, names);
    return Complaint{word.span, fmt::format("there is no command \"{}\"", word.text),
                     hint.empty() ? "\"help\" lists the commands" : hint, Error::Kind::usage};
}

Parsed<std::vector<CommandText>> commands_of(std::string_view line) {
    return lex(line);
}

Parsed<ParsedCommand> parse_command(const CommandText& text, std::string_view line) {
    auto row = find_command(text.words.front());
    if (!row)
        return row.complaint();
    Arguments arguments(text.words, line, (*row)->usage);
    auto command = (*row)->parse(arguments);
    if (!command)
        return command.complaint();
    if (auto end = arguments.expect_end(); !end)
        return end.complaint();
    const Span first = text.words.front().span, last = text.words.back().span;
    return ParsedCommand{
        *row, std::move(*command), {first.offset, last.offset + last.length - first.offset}};
}

std::string help_text() {
    size_t width = 0;
    for (const CommandRow& row : command_table())
        width = std::max(width, row.name.size());
    std::string out;
    std::string_view group;
    for (const CommandRow& row : command_table()) {
        if (row.group != group) {
            group = row.group;
            out += fmt::format("{}{}\n", out.empty() ? "" : "\n", group);
        }
        out += fmt::format("  {:<{}}  {}\n", row.name, width, row.summary);
    }
    out +=
        "\n\"help COMMAND\" says more. Commands may be abbreviated; ';' separates them, '#' begins "
        "a comment.\n";
    return out;
}

std::string help_text(const CommandRow& row) {
    std::string out = fmt::format("{} - {}\n\nusage: {}\n", row.name, row.summary, row.usage);
    if (!row.letter.empty())
        out += fmt::format("short: {}\n", row.letter);
    if (!row.details.empty())
        out += fmt::format("\n{}\n", row.details);
    if (!row.examples.empty()) {
        out += "\nexamples:\n";
        std::string_view rest = row.examples;
        while (!rest.empty()) {
            const size_t end = std::min(rest.find('\n'), rest.size());
            out += fmt::format("  {}\n", rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    return out;
}

} // namespace auger
