// SPDX-License-Identifier: GPL-3.0-or-later
// Names of containers from the files of their runtimes.
#pragma once

#include "loader/process/container.h"

namespace auger {

// Fills in the names of containers that have only an id: docker's, podman's, those that Kubernetes
// gives ("POD/CONTAINER"), and else the host name of its processes. What cannot be read stays
// empty.
void name_containers(const ContainerHost& host, std::vector<Container>& containers);

} // namespace auger
