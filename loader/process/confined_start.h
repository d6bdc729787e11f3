// SPDX-License-Identifier: GPL-3.0-or-later
// How ConfinedProcesses and the program of its processes (loader/reader/confined_program.h) find
// each other.
#pragma once

namespace auger {

inline constexpr const char* launch_word = "launch"; // the first argument of the launcher
// ... of one whose processes have the network, and confine themselves.
inline constexpr const char* launch_with_network_word = "launch-with-network";
inline constexpr const char* serve_word = "serve";     // ... of all others
inline constexpr const char* confined_name = "auger-"; // and the service: in ps
inline constexpr int confined_socket = 3;              // right behind the standard streams

} // namespace auger
