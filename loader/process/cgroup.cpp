// SPDX-License-Identifier: GPL-3.0-or-later
// Control groups of version 2: where they are mounted, and their ids.
#include "loader/process/proc_info.h"
#include "loader/process/safe_open.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace auger {
namespace {

std::string_view take_line(std::string_view& text) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

Result<Cgroup> cgroup_at(const std::string& mount, std::string path) {
    struct stat status;
    // The inode number of a group's folder is its id (kernfs, 64-bit).
    if (stat((mount + path).c_str(), &status) != 0)
        return system_error("find control group", path);
    if (!S_ISDIR(status.st_mode))
        return Error{"find control group", path, "not a folder", {}};
    return Cgroup{std::move(path), status.st_ino};
}

} // namespace

std::optional<std::string> cgroup2_mount(std::string_view mounts) {
    while (!mounts.empty()) {
        const std::string_view line = take_line(mounts);
        const size_t point = line.find(' ');
        const size_t type = point == line.npos ? line.npos : line.find(' ', point + 1);
        if (type != line.npos && line.substr(type + 1).starts_with("cgroup2 "))
            return std::string(line.substr(point + 1, type - point - 1));
    }
    return std::nullopt;
}

Result<std::string> cgroup_mount() {
    const auto mounts = read_file("/proc/self/mounts");
    if (!mounts)
        return mounts.error();
    if (auto mount = cgroup2_mount(*mounts))
        return *std::move(mount);
    return Error{"find control groups",
                 {},
                 "no cgroup2 file system is mounted",
                 {},
                 Error::Kind::unsupported};
}

std::optional<std::string> cgroup2_path(std::string_view text) {
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        if (line.starts_with("0::/"))
            return std::string(line.substr(3));
    }
    return std::nullopt;
}

Result<std::string> cgroup_path_of(pid_t pid) {
    const auto text = read_file(fmt::format("/proc/{}/cgroup", pid), 1 << 20);
    if (!text)
        return system_error("read control group of process", std::to_string(pid), {},
                            errno == ENOENT ? ESRCH : errno);
    if (auto path = cgroup2_path(*text))
        return *std::move(path);
    return Error{"read control group of process", std::to_string(pid), "in no cgroup2 group", {}};
}

Result<Cgroup> cgroup_of(pid_t pid) {
    const auto mount = cgroup_mount();
    if (!mount)
        return mount.error();
    auto path = cgroup_path_of(pid);
    if (!path)
        return path.error();
    return cgroup_at(*mount, *std::move(path));
}

Result<Cgroup> cgroup_by_path(std::string_view path) {
    const auto mount = cgroup_mount();
    if (!mount)
        return mount.error();
    if (path.starts_with(*mount) && (path.size() == mount->size() || path[mount->size()] == '/'))
        path.remove_prefix(mount->size());
    while (path.ends_with('/'))
        path.remove_suffix(1);
    return cgroup_at(*mount, path.starts_with('/') ? std::string(path) : "/" + std::string(path));
}

bool is_in_group(pid_t pid, const Cgroup& group) {
    const auto path = cgroup_path_of(pid);
    if (!path)
        return false;
    const std::string above = group.path == "/" ? "" : group.path;
    return *path == group.path || path->starts_with(above + "/");
}

} // namespace auger
