// SPDX-License-Identifier: GPL-3.0-or-later
// URLs of servers that a command sends to.
#pragma once

#include "repl/language/arguments.h"

#include <string>

namespace auger {

// http://HOST[:PORT][/PATH] or https://...; complains about the part that is wrong, and about
// whatever is secret: the command line and saved sessions are read by others.
Parsed<std::string> parse_server_url(Arguments& arguments);

} // namespace auger
