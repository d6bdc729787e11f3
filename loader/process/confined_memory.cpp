// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/confined_memory.h"

#include "loader/process/confined_start.h"
#include "loader/process/safe_open.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace auger {
namespace {

// What stands behind "KEY:" and blanks.
std::string_view field(std::string_view status, std::string_view key) {
    for (size_t at = 0; at < status.size();) {
        const size_t end = std::min(status.find('\n', at), status.size());
        std::string_view line = status.substr(at, end - at);
        at = end + 1;
        if (!line.starts_with(key) || !line.substr(key.size()).starts_with(':'))
            continue;
        line.remove_prefix(key.size() + 1);
        return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    }
    return {};
}

uint64_t number_or_zero(std::string_view text) {
    uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

} // namespace

uint64_t confined_memory_limit(uint64_t most) {
    const auto pages = static_cast<uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L));
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    return std::min(most, pages * page / 2);
}

std::optional<ConfinedMemory> parse_confined_memory(std::string_view status, pid_t launcher) {
    const std::string_view anonymous = field(status, "RssAnon"); // which has who has not ended
    if (anonymous.empty() ||
        number_or_zero(field(status, "PPid")) != static_cast<uint64_t>(launcher))
        return std::nullopt;
    std::string_view name = field(status, "Name");
    if (name.starts_with(confined_name))
        name.remove_prefix(std::string_view(confined_name).size());
    const uint64_t kilobytes =
        number_or_zero(anonymous) + number_or_zero(field(status, "RssShmem"));
    return ConfinedMemory{std::string(name), kilobytes << 10};
}

std::optional<ConfinedMemory> confined_memory(pid_t pid, pid_t launcher) {
    const auto status = read_file("/proc/" + std::to_string(pid) + "/status");
    return status ? parse_confined_memory(*status, launcher) : std::nullopt;
}

} // namespace auger
