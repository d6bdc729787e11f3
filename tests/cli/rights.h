// SPDX-License-Identifier: GPL-3.0-or-later
// Being somebody else than root, for Surroundings::prepare.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace auger::test {

// Nobody with these capabilities ("cap_bpf"), as a file with `setcap` or a unit with
// AmbientCapabilities= has them.
bool become_nobody_with(const std::set<std::string>& capabilities);

// As in /proc/PID/status.
uint64_t bits_of(const std::set<std::string>& capabilities);

// What `doctor` says that takes, to whoever has none.
std::set<std::string> documented_capabilities();

} // namespace auger::test
