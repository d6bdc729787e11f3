// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/own_variables.h"

#include <unistd.h>

#include <algorithm>

namespace auger {

std::vector<std::string> own_variables(std::span<const std::string_view> names,
                                       std::string_view prefix) {
    std::vector<std::string> variables;
    for (char** variable = environ; *variable; variable++) {
        const std::string_view text(*variable);
        const std::string_view name = text.substr(0, text.find('='));
        if ((!prefix.empty() && name.starts_with(prefix)) ||
            std::ranges::find(names, name) != names.end())
            variables.emplace_back(text);
    }
    return variables;
}

} // namespace auger
