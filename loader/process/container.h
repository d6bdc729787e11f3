// SPDX-License-Identifier: GPL-3.0-or-later
// Containers, as their control groups tell: runtimes put a container's processes into a group whose
// last component holds its id or its name. No runtime's daemon is asked.
#pragma once

#include "loader/base/result.h"
#include "loader/process/proc_info.h"

#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct Container {
    std::string id;     // hexadecimal; empty where runtimes have only names (LXC, systemd-nspawn)
    std::string name;   // raw; empty: not known
    std::string cgroup; // path below the cgroup2 mount
    friend bool operator==(const Container&, const Container&) = default;
};

// The container that a group's path is of, by its last component: docker-ID.scope,
// libpod-ID.scope, crio-ID.scope, cri-containerd-ID.scope, ID itself (docker, kubepods),
// lxc.payload.NAME, lxc/NAME, machine-NAME.scope, systemd-nspawn@NAME.service.
std::optional<Container> container_of(std::string_view cgroup);
// The outermost one that the group is of, or below: what runs in a container may name groups below
// its own as it likes.
std::optional<Container> outermost_container(std::string_view cgroup);

// The uid of the Kubernetes pod whose group that is, or that it is below (the outermost, since what
// runs in a container may name groups below its own), as the API writes it; empty: of none. The
// kubelet names a pod's group podUID, or, as systemd's slices, kubepods-QOS-podUID.slice with '_'
// for '-'. Of a static pod it is the hash of its manifest.
std::string kubernetes_pod_of(std::string_view cgroup);

// Where to look; tests have folders of their own.
struct ContainerHost {
    std::string root = ""; // of the file system in which runtimes keep their files
    std::string cgroups;   // mount of cgroup2
};

// Running containers, with the names that runtimes leave readable, or else their host names.
Result<std::vector<Container>> list_containers(const ContainerHost& host);

// The one container that `text` means: its whole name or id, or at least 4 characters of the id's
// beginning. Fails for none, and for several with their names.
Result<Container> find_container(const std::vector<Container>& containers, std::string_view text);

// Control groups that `text` means: one of that path, or of that container, with those below it
// that there are now.
Result<std::vector<Cgroup>> cgroups_by_name(const std::string& text);

} // namespace auger
