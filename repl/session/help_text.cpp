// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/help_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

// The first line of `rest`, which loses it.
std::string_view take_line(std::string_view& rest) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
}

} // namespace

std::string wrap_help(std::string_view text, size_t width) {
    std::string out;
    size_t column = 0; // in a line that words are added to
    const auto end_line = [&] {
        if (column > 0)
            out += '\n';
        column = 0;
    };
    while (text.starts_with('\n'))
        text.remove_prefix(1);
    while (!text.empty()) {
        std::string_view line = take_line(text);
        if (line.empty() || line.starts_with("  ")) {
            end_line();
            out += line;
            out += '\n';
            continue;
        }
        while (!line.empty()) {
            const size_t blank = std::min(line.find(' '), line.size());
            const std::string_view word = line.substr(0, blank);
            line.remove_prefix(std::min(blank + 1, line.size()));
            if (word.empty())
                continue;
            if (column > 0 && column + 1 + word.size() > width)
                end_line();
            if (column > 0)
                out += ' ';
            out += word;
            column += word.size() + (column > 0);
        }
    }
    end_line();
    while (out.ends_with('\n'))
        out.pop_back();
    return out;
}

std::string help_text(const CommandTable& table, size_t width) {
    size_t names = 0;
    for (const CommandRow& row : table.rows())
        names = std::max(names, row.name.size());
    std::string out;
    std::string_view group;
    for (const CommandRow& row : table.rows()) {
        if (row.group != group) {
            group = row.group;
            out += fmt::format("{}{}\n", out.empty() ? "" : "\n", group);
        }
        out += fmt::format("  {:<{}}  {}\n", row.name, names, row.summary);
    }
    out += '\n';
    out += wrap_help("\"help COMMAND\" says more. Commands may be abbreviated; ';' separates them, "
                     "'#' begins a comment.",
                     width);
    return out + '\n';
}

std::string help_text(const CommandRow& row, size_t width) {
    std::string out = fmt::format("{} - {}\n\nusage: {}\n", row.name, row.summary, row.usage);
    if (!row.letter.empty())
        out += fmt::format("short: {}\n", row.letter);
    if (!row.details.empty())
        out += fmt::format("\n{}\n", wrap_help(row.details, width));
    if (!row.examples.empty()) {
        out += "\nexamples:\n";
        for (std::string_view rest = row.examples; !rest.empty();)
            out += fmt::format("  {}\n", take_line(rest));
    }
    return out;
}

} // namespace auger
