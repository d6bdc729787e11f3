// SPDX-License-Identifier: GPL-3.0-or-later
// From the bytes of a file to lines: a byte order mark, CRLF and a missing newline at the end are
// handled; what is not text is refused, with the place.
#pragma once

#include "loader/base/result.h"
#include "repl/language/complaint.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

inline constexpr size_t script_limit = 16 << 20; // bytes

// Lines of `text`; `name` is what messages call it.
std::vector<ScriptLine> script_lines(const std::string& name, std::string_view text);

// Reads a script from a file or pipe, with the invoking user's rights. A pipe's other end may take
// its time: when `wake_fd` is readable and `ended` says so, nobody wants it any more. Errors: that,
// or it cannot be opened or read, is a directory, or too long.
Result<std::string> read_script(
    const std::string& path, int wake_fd = -1,
    const std::function<bool()>& ended = [] { return false; });

} // namespace auger
