// SPDX-License-Identifier: GPL-3.0-or-later
// Where processes listen, as /proc has it: by TCP, and at unix sockets.
#pragma once

#include "loader/reports/listeners.h"

#include <sys/types.h>

#include <cstdint>
#include <istream>
#include <map>
#include <span>

namespace auger {

// By the inode of the socket.
using ListenersByInode = std::map<uint64_t, Listener>;

// Text of /proc/PID/net/tcp or tcp6, which has those that listen first.
void read_tcp_listeners(std::istream& text, ListenersByInode& found);
// Text of /proc/PID/net/unix. Paths are the programs' own words.
void read_unix_listeners(std::istream& text, ListenersByInode& found);

// Of all of these, of which those that are gone, and what may not be read, are passed over. Of
// datagrams none.
Listeners listeners_of(std::span<const pid_t> pids);

} // namespace auger
