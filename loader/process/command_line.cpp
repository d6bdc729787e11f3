// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/command_line.h"

#include "loader/process/proc_info.h"
#include "loader/process/run_in_time.h"
#include "loader/process/safe_open.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

Result<std::string> command_line_of(pid_t pid) {
    const std::string operation = "read command line of process";
    auto text = result_in_time(
        pid, [pid] { return read_file(fmt::format("/proc/{}/cmdline", pid), 4096); });
    if (!text)
        return process_error(operation, pid, "timed out");
    if (!*text)
        return process_error(operation, pid, text->error().cause);
    std::string words = std::move(**text);
    while (words.ends_with('\0'))
        words.pop_back();
    std::ranges::replace(words, '\0', ' ');
    return words;
}

} // namespace auger
