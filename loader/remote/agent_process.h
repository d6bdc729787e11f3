// SPDX-License-Identifier: GPL-3.0-or-later
// AgentPipe: the pipes to an agent, and the process behind them, which ends with them. Changes when
// agents are to be started in another way.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/process/launch.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace auger {
class Starter;
}

namespace auger::remote {

struct AgentPipe {
    UniqueFd to, from, errors;              // non-blocking; `errors`: what it complains of, or none
    std::optional<LaunchedProcess> process; // ssh, or what else there is
};

// Makes one. Asked again when it was lost.
using ConnectAgent = std::function<Result<AgentPipe>()>;

// By a command, with the rights of whoever called auger.
Result<AgentPipe> start_agent(const std::vector<std::string>& arguments, Starter* starter);

} // namespace auger::remote
