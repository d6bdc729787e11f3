// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/container_names.h"

#include "loader/process/run_in_time.h"
#include "loader/process/safe_open.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

namespace auger {
namespace {

using nlohmann::json;
using Names = std::map<std::string, ContainerNames, std::less<>>; // by id

constexpr size_t largest_file = 4 << 20;
constexpr size_t most_log_files = 100'000;
constexpr size_t most_known = 10'000;
constexpr uint64_t shortest_pause_ns = second_ns, longest_pause_ns = 60 * second_ns;

json read_json(const std::string& path) {
    auto file = open_regular(path);
    if (!file)
        return json::value_t::discarded;
    auto text = read_all(file->get(), largest_file);
    return text ? json::parse(*text, nullptr, false) : json(json::value_t::discarded);
}

std::string string_of(const json& object, const char* key) {
    if (!object.is_object() || !object.contains(key) || !object[key].is_string())
        return "";
    return object[key].get<std::string>();
}

// "/web" in the container's own folder.
std::string docker_name(const ContainerHost& host, const std::string& id) {
    std::string name = string_of(
        read_json(fmt::format("{}/var/lib/docker/containers/{}/config.v2.json", host.root, id)),
        "Name");
    return name.starts_with('/') ? name.substr(1) : name;
}

// One list of all, of the system's podman; users have their own.
void add_podman_names(const ContainerHost& host, Names& names) {
    const json list =
        read_json(host.root + "/var/lib/containers/storage/overlay-containers/containers.json");
    if (!list.is_array())
        return;
    for (const json& container : list) {
        const std::string id = string_of(container, "id");
        if (id.empty() || !container.contains("names") || !container["names"].is_array() ||
            container["names"].empty() || !container["names"][0].is_string())
            continue;
        names[id].name = container["names"][0].get<std::string>();
    }
}

// The kubelet keeps a link to each container's log: POD_NAMESPACE_CONTAINER-ID.log.
void add_kubernetes_names(const ContainerHost& host, Names& names) {
    std::error_code error;
    size_t seen = 0;
    for (std::filesystem::directory_iterator entry(host.root + "/var/log/containers", error), end;
         !error && entry != end && seen < most_log_files; entry.increment(error), seen++) {
        const std::string file = entry->path().stem();
        const size_t dash = file.rfind('-'), first = file.find('_'), second = file.rfind('_', dash);
        if (dash == file.npos || first == file.npos || second == file.npos || second <= first)
            continue;
        names[file.substr(dash + 1)] = {file.substr(second + 1, dash - second - 1),
                                        file.substr(0, first),
                                        file.substr(first + 1, second - first - 1)};
    }
}

// As the container's own /etc/hostname says, read beneath the root of one of its processes.
std::string host_name(const ContainerHost& host, const Container& container) {
    auto processes = read_file(host.cgroups + container.cgroup + "/cgroup.procs", 1 << 16);
    pid_t pid = 0;
    if (!processes ||
        std::from_chars(processes->data(), processes->data() + processes->size(), pid).ec !=
            std::errc())
        return "";
    const auto name =
        result_in_time(pid, [folder = fmt::format("{}/proc/{}/root", host.root, pid)] {
            auto root = open_folder(folder);
            if (!root)
                return std::string();
            auto file = open_regular_beneath(root->get(), "/etc/hostname", Symlinks::refuse);
            if (!file)
                return std::string();
            auto text = read_all(file->get(), 256);
            return text ? text->substr(0, text->find('\n')) : "";
        });
    return name.value_or("");
}

} // namespace

ContainerFiles::ContainerFiles(ContainerHost host, std::function<uint64_t()> now)
    : host_(std::move(host)), now_(std::move(now)) {}

void ContainerFiles::read_lists(uint64_t now_ns) {
    if (listed_ns_ && now_ns - listed_ns_ < shortest_pause_ns)
        return;
    listed_ns_ = now_ns;
    listed_.clear();
    add_podman_names(host_, listed_);
    add_kubernetes_names(host_, listed_);
}

ContainerNames ContainerFiles::read(const std::string& id) const {
    if (const auto listed = listed_.find(id); listed != listed_.end())
        return listed->second;
    return {docker_name(host_, id), {}, {}};
}

const ContainerNames& ContainerFiles::names(const std::string& id) {
    const uint64_t now = now_();
    if (known_.size() >= most_known && !known_.contains(id))
        known_.clear();
    Looked& looked = known_[id];
    if (!looked.names.known() && now >= looked.again_ns) {
        read_lists(now);
        looked.names = read(id);
        looked.pause_ns = std::clamp(2 * looked.pause_ns, shortest_pause_ns, longest_pause_ns);
        looked.again_ns = now + looked.pause_ns;
    }
    return looked.names;
}

void name_containers(const ContainerHost& host, std::vector<Container>& containers) {
    ContainerFiles files(host);
    for (Container& container : containers) {
        if (!container.name.empty())
            continue;
        const ContainerNames& names = files.names(container.id);
        container.name = (names.pod.empty() ? "" : names.pod + "/") + names.name;
        if (container.name.empty())
            container.name = host_name(host, container);
    }
}

} // namespace auger
