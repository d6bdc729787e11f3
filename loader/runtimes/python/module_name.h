// SPDX-License-Identifier: GPL-3.0-or-later
// The module of a file, without the packages around it.
#pragma once

#include <string_view>

namespace auger {

// "/srv/app/views.py" -> "views", "/srv/app/__init__.py" -> "app"; empty: it is none of Python's,
// or has a blank in it, where a task's name would begin.
inline std::string_view python_module(std::string_view file) {
    constexpr std::string_view suffix = ".py", package = "/__init__";
    if (!file.ends_with(suffix))
        return {};
    file.remove_suffix(suffix.size());
    if (file.ends_with(package))
        file.remove_suffix(package.size());
    file = file.substr(file.rfind('/') + 1);
    return file.find(' ') == file.npos ? file : std::string_view();
}

} // namespace auger
