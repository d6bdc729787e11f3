// SPDX-License-Identifier: GPL-3.0-or-later
// ab: many requests for one file of a web server's on this machine.
#pragma once

#include <string>

namespace auger::test {

inline constexpr const char* ab_program = "/usr/bin/ab"; // of apache2-utils

// `clients` at once, each one after the other; the answers may be compressed. Throws when not all
// of them came in the right length.
void request_by_ab(int port, const std::string& file, int requests, int clients);

} // namespace auger::test
