// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/command_table.h"

#include "repl/language/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {

CommandTable::CommandTable(std::vector<CommandRow> rows) : rows_(std::move(rows)) {
    for (const CommandRow& row : rows_)
        settings_.insert(settings_.end(), row.settings.begin(), row.settings.end());
    std::ranges::stable_sort(settings_, {}, &SettingRow::order);
}

Parsed<const CommandRow*> CommandTable::find(const Word& word) const {
    std::vector<const CommandRow*> beginning;
    std::vector<std::string> names;
    for (const CommandRow& row : rows_) {
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

Parsed<ParsedCommand> CommandTable::parse(const CommandText& text, std::string_view line) const {
    auto row = find(text.words.front());
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

} // namespace auger
