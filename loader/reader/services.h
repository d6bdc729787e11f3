// SPDX-License-Identifier: GPL-3.0-or-later
// What the processes of auger-reader do: each answers what comes through the socket, and returns
// when the other end is gone or what it says is no request.
#pragma once

namespace auger {

void serve_code(int socket);
void serve_debuginfod(int socket); // confines itself: it needs the network
void serve_dwarf(int socket);
void serve_http(int socket); // likewise
void serve_names(int socket);
void serve_tables(int socket);

} // namespace auger
