// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/container.h"

#include "loader/process/container_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace auger {
namespace {

constexpr size_t most_groups = 100'000;
constexpr int deepest_group = 16;
constexpr size_t shortest_id = 12; // as runtimes print them; whole ones have 64
constexpr size_t shortest_prefix = 4;
constexpr size_t most_candidates = 8;

bool is_hexadecimal(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is_id(std::string_view text) {
    return text.size() >= shortest_id && is_hexadecimal(text);
}

bool take_ends(std::string_view& text, std::string_view begin, std::string_view end) {
    if (text.size() <= begin.size() + end.size() || !text.starts_with(begin) ||
        !text.ends_with(end))
        return false;
    text = text.substr(begin.size(), text.size() - begin.size() - end.size());
    return true;
}

// 8-4-4-4-12 hexadecimal digits, or 32 of them.
bool is_pod_uid(std::string_view text) {
    std::string digits;
    for (size_t i = 0; i < text.size(); i++)
        if (text.size() != 36 || (i != 8 && i != 13 && i != 18 && i != 23))
            digits += text[i];
        else if (text[i] != '-')
            return false;
    return digits.size() == 32 && is_hexadecimal(digits);
}

// systemd writes "\x2d" for '-' in names of units.
std::string unescape_unit(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); i++) {
        if (text.substr(i).starts_with("\\x2d")) {
            out += '-';
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out;
}

// Calls `visit` with the path below `mount` of every group, parents first.
template <typename Visit>
Result<void> visit_groups(const std::string& mount, const std::string& below, Visit visit) {
    namespace fs = std::filesystem;
    std::error_code error;
    size_t seen = 0;
    fs::recursive_directory_iterator entry(mount + below,
                                           fs::directory_options::skip_permission_denied, error);
    if (error)
        return system_error("list control groups", mount + below, {}, error.value());
    // Groups come and go meanwhile: what has gone ends nothing but its own part.
    for (const fs::recursive_directory_iterator end; entry != end && seen < most_groups;
         entry.increment(error)) {
        if (error)
            break;
        std::error_code gone;
        if (!entry->is_directory(gone) || entry->is_symlink(gone))
            continue;
        seen++;
        if (entry.depth() >= deepest_group)
            entry.disable_recursion_pending();
        visit(entry->path().string().substr(mount.size()));
    }
    return {};
}

std::string describe(const Container& container) {
    const std::string id = container.id.substr(0, shortest_id);
    if (container.name.empty() || id.empty())
        return container.name.empty() ? id : container.name;
    return fmt::format("{} ({})", container.name, id);
}

std::string describe(const std::vector<const Container*>& containers) {
    std::vector<std::string> texts;
    for (const Container* container : containers) {
        if (texts.size() == most_candidates) {
            texts.push_back(fmt::format("and {} more", containers.size() - most_candidates));
            break;
        }
        texts.push_back(describe(*container));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

} // namespace

std::optional<Container> container_of(std::string_view cgroup) {
    const size_t slash = cgroup.rfind('/');
    if (slash == cgroup.npos)
        return std::nullopt;
    std::string_view last = cgroup.substr(slash + 1);
    const std::string_view parent = cgroup.substr(0, slash);
    std::string path(cgroup);
    if (is_id(last) && last.size() == 64)
        return Container{std::string(last), {}, std::move(path)};
    for (const std::string_view runtime : {"docker-", "libpod-", "crio-", "cri-containerd-"}) {
        std::string_view id = last;
        if ((take_ends(id, runtime, ".scope") || (id = last, take_ends(id, runtime, ""))) &&
            is_id(id))
            return Container{std::string(id), {}, std::move(path)};
    }
    if (take_ends(last, "lxc.payload.", "") || parent == "/lxc" || parent == "/lxc.payload")
        return Container{{}, std::string(last), std::move(path)};
    if (take_ends(last, "machine-", ".scope") || take_ends(last, "systemd-nspawn@", ".service"))
        return Container{{}, unescape_unit(last), std::move(path)};
    return std::nullopt;
}

std::optional<Container> outermost_container(std::string_view cgroup) {
    for (size_t end = 0; end < cgroup.size();) {
        end = std::min(cgroup.find('/', end + 1), cgroup.size());
        if (auto found = container_of(cgroup.substr(0, end)))
            return found;
    }
    return std::nullopt;
}

std::string kubernetes_pod_of(std::string_view cgroup) {
    // From the top: what is below a container's group may be named by what runs in it.
    while (!cgroup.empty()) {
        const size_t slash = cgroup.find('/');
        std::string_view name = cgroup.substr(0, slash);
        cgroup = slash == cgroup.npos ? std::string_view() : cgroup.substr(slash + 1);
        const bool is_slice = take_ends(name, "", ".slice");
        const size_t pod = name.rfind("pod");
        if (pod == name.npos || (is_slice ? pod == 0 || name[pod - 1] != '-' : pod != 0))
            continue;
        std::string uid(name.substr(pod + 3));
        if (is_slice)
            std::ranges::replace(uid, '_', '-');
        if (is_pod_uid(uid))
            return uid;
    }
    return "";
}

Result<std::vector<Container>> list_containers(const ContainerHost& host) {
    std::vector<Container> containers;
    auto visited = visit_groups(host.cgroups, "", [&](const std::string& path) {
        auto container = container_of(path);
        // What is below a container is a part of it.
        if (container && (containers.empty() || !path.starts_with(containers.back().cgroup + "/")))
            containers.push_back(*std::move(container));
    });
    if (!visited)
        return visited.error();
    name_containers(host, containers);
    return containers;
}

Result<Container> find_container(const std::vector<Container>& containers, std::string_view text) {
    std::vector<const Container*> found;
    const auto look_for = [&](auto fits) {
        if (!found.empty())
            return;
        for (const Container& container : containers) {
            if (fits(container))
                found.push_back(&container);
        }
    };
    look_for([&](const Container& c) { return !c.id.empty() && c.id == text; });
    look_for([&](const Container& c) { return c.name == text; });
    if (text.size() >= shortest_prefix && is_hexadecimal(text))
        look_for([&](const Container& c) { return c.id.starts_with(text); });
    if (found.size() == 1)
        return *found.front();
    if (found.size() > 1)
        return Error{"find container", std::string(text),
                     fmt::format("{} containers are meant by it", found.size()),
                     "one of: " + describe(found)};
    std::vector<const Container*> all;
    for (const Container& container : containers)
        all.push_back(&container);
    return Error{"find control group or container", std::string(text), "none has that name",
                 all.empty() ? "no container is running" : "running containers: " + describe(all)};
}

Result<std::vector<Cgroup>> cgroups_by_name(const std::string& text) {
    if (auto cgroup = cgroup_by_path(text); cgroup)
        return std::vector<Cgroup>{*std::move(cgroup)};
    else if (text.find('/') != text.npos || cgroup.error().kind == Error::Kind::unsupported)
        return cgroup.error();
    const auto mount = cgroup_mount();
    if (!mount)
        return mount.error();
    const auto containers = list_containers({"", *mount});
    if (!containers)
        return containers.error();
    auto container = find_container(*containers, text);
    if (!container)
        return container.error();
    std::vector<Cgroup> groups;
    std::vector<std::string> paths{container->cgroup};
    (void)visit_groups(*mount, container->cgroup,
                       [&](const std::string& path) { paths.push_back(path); });
    for (const std::string& path : paths) {
        if (auto group = cgroup_by_path(path))
            groups.push_back(*std::move(group));
    }
    if (groups.empty())
        return Error{"find container", text, "it has just ended", {}};
    return groups;
}

} // namespace auger
