// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/commands/manual_page.h"

#include "repl/commands/table.h"
#include "repl/session/help_text.h"

#include <fmt/format.h>

namespace auger {

namespace {

// Text as troff shows it, character by character.
std::string troff(std::string_view text) {
    std::string result;
    bool at_begin = true;
    for (const char c : text) {
        if (at_begin && (c == '.' || c == '\''))
            result += "\\&";
        if (c == '\\')
            result += "\\e";
        else if (c == '-')
            result += "\\-";
        else
            result += c;
        at_begin = c == '\n';
    }
    return result;
}

// Lines as they are.
std::string verbatim(std::string_view text) {
    return text.empty() ? "" : fmt::format(".nf\n{}\n.fi\n", troff(text));
}

std::string option_text(const ProgramOption& option) {
    std::string names;
    for (size_t at = 0; at <= option.names.size();) {
        const size_t end = std::min(option.names.find(',', at), option.names.size());
        names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ",
                             troff(option.names.substr(at, end - at)));
        at = end + 1;
    }
    if (!option.type.empty())
        names += fmt::format(" \\fI{}\\fR", troff(option.type));
    return fmt::format(".TP\n{}\n{}.\n", names, troff(option.details));
}

std::string command_text(const CommandRow& row) {
    std::string text = fmt::format(".TP\n\\fB{}\\fR\n{}.\n", troff(row.usage), troff(row.summary));
    if (!row.details.empty())
        text += ".IP\n" + verbatim(wrap_help(row.details));
    if (!row.examples.empty())
        text += ".IP\nExamples:\n.RS 11\n" + verbatim(row.examples) + ".RE\n";
    return text;
}

} // namespace

std::string manual_page(std::string_view version, std::string_view usage,
                        std::span<const ProgramOption> options, std::string_view notes) {
    std::string page = fmt::format(
        ".TH AUGER 8 \"\" \"{0}\" \"System Administration\"\n"
        ".SH NAME\nauger \\- find the cause of slow calls in running programs\n"
        ".SH SYNOPSIS\n.nf\n\\fB{1}\\fR\n.fi\n"
        ".SH DESCRIPTION\n"
        "A live profiler: it samples stacks, times functions, and splits the samples by whether "
        "the\n"
        "enclosing call ended beyond a percentile of its own durations, while the program runs.\n"
        "Nothing is recompiled or restarted. It needs root, of whose rights it gives up what it\n"
        "does not need, or a few capabilities: `doctor` names them.\n"
        ".SH OPTIONS\n",
        troff(version), troff(usage));
    for (const ProgramOption& option : options)
        page += option_text(option);
    page += ".SH NOTES\n" + verbatim(notes) + ".SH COMMANDS\n";
    std::string_view group;
    for (const CommandRow& row : command_table().rows()) {
        if (row.group != group)
            page += fmt::format(".SS {}\n", troff(row.group));
        group = row.group;
        page += command_text(row);
    }
    page += ".SH SEE ALSO\n\\fBperf\\fR(1), \\fBbpftrace\\fR(8)\n";
    return page;
}

} // namespace auger
