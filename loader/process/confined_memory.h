// SPDX-License-Identifier: GPL-3.0-or-later
// What confined processes hold of the machine's memory, each and together.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

// Bytes that one of them may address, and all of them together may hold: of `most` as many as are
// half of the machine's memory.
uint64_t confined_memory_limit(uint64_t most);
inline constexpr uint64_t most_confined_memory = uint64_t{8} << 30;

struct ConfinedMemory {
    std::string service; // what it does: "names"
    uint64_t bytes;      // that it holds, beside what it has mapped of files
};
// Nothing when there is no such process any more, or it is not the launcher's.
std::optional<ConfinedMemory> confined_memory(pid_t pid, pid_t launcher);

// Of the text of /proc/PID/status; nothing when it is another's, or has ended.
std::optional<ConfinedMemory> parse_confined_memory(std::string_view status, pid_t launcher);

} // namespace auger
