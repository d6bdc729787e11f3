// SPDX-License-Identifier: GPL-3.0-or-later
// HostCommand: what starts an agent on a host, from what a user typed. Changes when hosts can be
// named in another way.
#pragma once

#include "loader/base/result.h"

#include <span>
#include <string>
#include <vector>

namespace auger::remote {

struct HostCommand {
    std::string name;                   // as views show it
    std::vector<std::string> arguments; // [0] is the program
};

// Of "web1", "user@web1" or "ssh://user@web1:2222", by ssh; or, with `via`, by what that command
// line of a shell is when {} stands for the host. Hosts are separated by commas; each is there
// once. Fails with kind `usage`.
Result<std::vector<HostCommand>> host_commands(std::span<const std::string> hosts,
                                               const std::string& via);

// Of a file with a host a line; what follows # is a comment. Fails with kind `usage`.
Result<std::vector<std::string>> hosts_in(const std::string& text, const std::string& path);

} // namespace auger::remote
