// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/broken_lease.h"

#include "loader/process/proc_info.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

namespace auger {
namespace {

// The words of a line: takes the first one off.
std::string_view next_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}

} // namespace

bool lease_is_waited_for(std::string_view locks, pid_t holder) {
    while (!locks.empty()) {
        std::string_view line = locks.substr(0, locks.find('\n'));
        locks.remove_prefix(std::min(line.size() + 1, locks.size()));
        next_word(line); // its number
        if (next_word(line) != "LEASE" || next_word(line) != "BREAKING")
            continue;
        next_word(line); // READ, WRITE or UNLCK
        const std::string_view pid = next_word(line);
        pid_t owner = 0;
        if (std::from_chars(pid.data(), pid.data() + pid.size(), owner).ec == std::errc() &&
            owner == holder)
            return true;
    }
    return false;
}

bool wake_for_lease(pid_t holder) {
    const auto now = read_stat(holder);
    if (!now || now->state != 'T')
        return false;
    std::ifstream locks("/proc/locks");
    return lease_is_waited_for(std::string(std::istreambuf_iterator<char>(locks), {}), holder) &&
           kill(holder, SIGCONT) == 0;
}

} // namespace auger
