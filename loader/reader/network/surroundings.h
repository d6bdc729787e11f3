// SPDX-License-Identifier: GPL-3.0-or-later
// What of the machine a process without power needs to talk to servers.
#pragma once

#include "loader/process/landlock.h"

#include <span>
#include <string>

namespace auger {

// What finding servers and checking their certificates takes, as distributions have it.
AllowedFiles network_files();

// Of "NAME=VALUE" each; false: one is no such text.
bool set_variables(std::span<const std::string> variables);

} // namespace auger
