// SPDX-License-Identifier: GPL-3.0-or-later
// Names of containers from the files of their runtimes.
#pragma once

#include "loader/base/read_clock.h"
#include "loader/process/container.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace auger {

// Names by id: docker's, those of the system's podman, and those that the kubelet gives its links
// to containers' logs. Files belong to root; what cannot be read is not known.
class ContainerFiles {
  public:
    // `now` is any clock, in ns.
    explicit ContainerFiles(
        ContainerHost host = {},
        std::function<uint64_t()> now = [] { return read_clock(CLOCK_MONOTONIC); });

    // Those of a container that is not known yet are looked for again a second later, and after
    // pauses that grow to a minute. Stays until the next call.
    const ContainerNames& names(const std::string& id);

  private:
    struct Looked {
        ContainerNames names;
        uint64_t again_ns = 0, pause_ns = 0; // when they are looked for again, and the last pause
    };

    void read_lists(uint64_t now_ns);
    ContainerNames read(const std::string& id) const;

    const ContainerHost host_;
    const std::function<uint64_t()> now_;
    std::map<std::string, Looked> known_;
    std::map<std::string, ContainerNames, std::less<>> listed_; // by podman and the kubelet
    uint64_t listed_ns_ = 0;                                    // 0: never
};

// Fills in the names of containers that have only an id: docker's, podman's, those that Kubernetes
// gives ("POD/CONTAINER"), and else the host name of its processes. What cannot be read stays
// empty.
void name_containers(const ContainerHost& host, std::vector<Container>& containers);

} // namespace auger
