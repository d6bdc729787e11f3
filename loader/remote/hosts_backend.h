// SPDX-License-Identifier: GPL-3.0-or-later
// The backend that observes other machines, by an agent on each (agent.h). To who uses it several
// are one: edits are made on all or on none, what is observed comes as one stream, and reports are
// joined. A host that is silent is not waited for; one that is lost is given what is in force when
// it is there again.
#pragma once

#include "loader/backend.h"
#include "loader/remote/hosts.h"

#include <memory>

namespace auger::remote {

// Starts the agents. Fails when none can be had. `sink` must outlive the backend.
Result<std::unique_ptr<Backend>> make_hosts_backend(const HostsOptions& options, EventSink& sink);

} // namespace auger::remote
