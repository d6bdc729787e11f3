// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/commands/bash_completion.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

// What stands behind an option of this type, as a command of bash; empty: nothing that is known.
std::string_view words_of(std::string_view type) {
    if (type.starts_with("PID"))
        return "COMPREPLY=($(compgen -W \"$(ps -eo pid=)\" -- \"$current\"))";
    if (type == "NAME")
        return "COMPREPLY=($(compgen -W \"$(ps -eo comm= | sort -u)\" -- \"$current\"))";
    if (type == "FILE" || type == "PATH")
        return "COMPREPLY=($(compgen -f -- \"$current\"))";
    if (type == "DIR")
        return "COMPREPLY=($(compgen -d -- \"$current\"))";
    if (type == "WAY")
        return "COMPREPLY=($(compgen -W \"auto cheap ret trampoline multi perf\" -- \"$current\"))";
    return "COMPREPLY=()";
}

} // namespace

std::string bash_completion(std::span<const ProgramOption> options) {
    std::string cases, all;
    for (const ProgramOption& option : options) {
        std::string names = option.names;
        std::ranges::replace(names, ',', '|');
        if (!option.type.empty())
            cases += fmt::format("    {}) {}; return ;;\n", names, words_of(option.type));
        std::ranges::replace(names, '|', ' ');
        all += (all.empty() ? "" : " ") + names;
    }
    return fmt::format(
        "# Completion of auger's options in bash; made by auger --bash-completion.\n"
        "_auger() {{\n"
        "    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} i\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        # A command follows.\n"
        "        if [[ ${{COMP_WORDS[i]}} == -- ]]; then\n"
        "            COMPREPLY=($(compgen -c -f -- \"$current\"))\n"
        "            return\n"
        "        fi\n"
        "    done\n"
        "    case $before in\n"
        "{}"
        "    esac\n"
        "    COMPREPLY=($(compgen -W \"{}\" -- \"$current\"))\n"
        "}}\n"
        "complete -o filenames -F _auger auger\n",
        cases, all);
}

} // namespace auger
