// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/commands/reference_page.h"

#include "repl/commands/help_topics.h"
#include "repl/commands/table.h"
#include "repl/session/help_text.h"
#include "views/screen/key_help.h"

#include <fmt/format.h>

namespace auger {
namespace {

constexpr std::string_view head = R"(# Reference

What the program says of itself: `build/release/auger --reference >docs/reference.md` writes this
page anew, and a test compares the two. `help COMMAND` at the prompt has the same text, `man auger`
too.

- [Command line](#command-line)
- [Commands](#commands)
- [Help topics](#help-topics)
- [Keys of the live view](#keys-of-the-live-view)
- [Exit codes](#exit-codes)
- [Environment](#environment)
- [Files](#files)
- [JSON](#json)
)";

constexpr std::string_view tail = R"(
## Exit codes

| code | |
|--:|---|
| 0 | all well |
| 1 | a command or an `assert` failed |
| 2 | options or commands that make no sense |
| 3 | a privilege or a kernel feature is missing |

The first failing command ends a script, unless `--keep-going` is given.

## Environment

| variable | |
|---|---|
| `AUGER_SERVE` | an address to `serve`, as `--serve` takes it |
| `DEBUGINFOD_URLS` | the servers that `--debuginfod` asks |
| `NO_COLOR` | without colours, when set and not empty |
| `NOTIFY_SOCKET` | where a service manager waits to be told that the commands have been carried out (`Type=notify`) |
| `TERM`, `COLORTERM` | what the terminal can show |
| `XDG_CACHE_HOME` | the folder of caches, `~/.cache` without it |
| `XDG_STATE_HOME` | the folder of the history, `~/.local/state` without it |
| `SUDO_UID`, `SUDO_GID` | who called sudo: files are read and written with that user's rights |

## Files

| file | |
|---|---|
| `~/.cache/auger/unwind` | unwind tables of files that only root can write, at most 512 MB |
| `~/.cache/auger/switches` | what `exit auto` has read of such files, at most 1 MB |
| `~/.cache/debuginfod_client` | what `--debuginfod` has fetched |
| `~/.local/state/auger/history` | commands of earlier sessions |
| `*.aug` | commands, for `-f` and `source`; `save FILE.aug` writes what is in force |
| `*.auger` | a recording of the event stream, for `--replay` |

What `save` writes has mode 0600, belongs to who called sudo, and takes its name when it is whole.

## JSON

With `--json` each answer is one object on a line. [schemas/auger.json](../schemas/auger.json) is
their JSON Schema. Its fields are a contract: they may be joined by others, but none goes or changes
its meaning without a new number in `schema`. Times are nanoseconds.
)";

std::string code(std::string_view tag, std::string_view text) {
    const std::string_view end = text.ends_with('\n') ? "" : "\n";
    return fmt::format("\n```{}\n{}{}```\n", tag, text, end);
}

// Without the newline that raw strings begin with.
std::string_view trimmed(std::string_view text) {
    while (text.starts_with('\n'))
        text.remove_prefix(1);
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    return text;
}

std::string option_item(const ProgramOption& option) {
    std::string names = option.names;
    for (size_t at = names.find(','); at != names.npos; at = names.find(',', at + 3))
        names.replace(at, 1, "`, `");
    std::string type = option.type.empty() ? "" : fmt::format(" `{}`", option.type);
    return fmt::format("| `{}`{} | {} |\n", names, type, option.details);
}

std::string command_section(const CommandRow& row) {
    std::string text = fmt::format("\n### {}\n\n{}\n", row.name, row.summary);
    text += code("text", trimmed(row.usage));
    if (!row.details.empty())
        text += code("text", trimmed(wrap_help(row.details)));
    if (!row.examples.empty())
        text += "\nExamples:\n" + code("auger-syntax", trimmed(row.examples));
    return text;
}

} // namespace

std::string reference_page(std::string_view usage, std::span<const ProgramOption> options) {
    std::string page(head);
    page += "\n## Command line\n" + code("text", usage) + "\n| option | |\n|---|---|\n";
    for (const ProgramOption& option : options)
        page += option_item(option);
    page += "\n## Commands\n\nThey may be abbreviated, as in gdb. `#` begins a comment, `;` "
            "separates commands, quotes keep blanks.\n";
    std::string_view group;
    for (const CommandRow& row : command_table().rows()) {
        if (row.group != group)
            page += fmt::format("\n**{}**\n", row.group);
        group = row.group;
        page += command_section(row);
    }
    page += "\n## Help topics\n";
    for (const HelpTopic& topic : help_topics())
        page += fmt::format("\n### {} (topic)\n\n{}\n", topic.name, topic.summary) +
                code("text", trimmed(wrap_help(topic.text)));
    page += "\n## Keys of the live view\n\nThe line above the command line says what the next step "
            "is; `?` shows all of these.\n\n" +
            key_markdown();
    page += R"(
Fingers that know flamelens, htop and perf top find motions, zoom, search, freeze, sorting and
annotation (`a`) where they were. These differ: `f` and `b` do not page (flamelens; `Space` and
`PgUp` do), `b` groups; `t` times a function (in perf top and htop a thread, a tree: `6`), `d` ends
that (perf top: one library: `/`), `E` and `C` show callees and callers (perf top: expand,
collapse), `k` is up (htop: kill; nothing here does), `u` takes back (htop: one user).
)";
    page += tail;
    return page;
}

} // namespace auger
