// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/root_folders.h"

#include "loader/process/proc_info.h"
#include "loader/process/safe_open.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>

namespace auger {
namespace {

// "mnt:[4026531841]"; empty: the process is gone.
std::string mount_namespace(const std::string& process) {
    char link[64];
    const ssize_t length = readlink((process + "/ns/mnt").c_str(), link, sizeof(link));
    return {link, static_cast<size_t>(std::max<ssize_t>(length, 0))};
}

// Names one view of the file system: the mount namespace and the folder that is its root.
std::string root_identity(const std::string& process) {
    const std::string mounts = mount_namespace(process);
    struct stat status;
    if (mounts.empty() || stat((process + "/root").c_str(), &status) != 0)
        return {};
    return fmt::format("{} {} {}", mounts, status.st_dev, status.st_ino);
}

// A root within /proc, as processes have that give up all files: our own readers, of which each one
// would make another view of every library, to be read by another reader. With our mounts they
// brought along nothing, so what they map is as we see it. A container's processes bring their
// mounts along, and may have such a root, too: their files are not ours for that.
bool has_no_files(const std::string& process) {
    struct statfs system;
    return statfs((process + "/root").c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC &&
           mount_namespace(process) == mount_namespace("/proc/self");
}

} // namespace

std::optional<RootFolders::Root> RootFolders::of(pid_t pid) {
    std::string process = fmt::format("/proc/{}", pid);
    std::string identity = root_identity(process);
    if (identity.empty()) {
        process = fmt::format("/proc/{}", living_thread(pid));
        identity = root_identity(process);
    }
    if (identity.empty())
        return std::nullopt;
    if (identity == root_identity("/proc/self") || has_no_files(process))
        return nullptr;
    auto& known = open_[identity];
    if (auto root = known.lock())
        return root;
    auto opened = open_folder(process + "/root");
    if (!opened)
        return std::nullopt;
    auto root = std::make_shared<const UniqueFd>(*std::move(opened));
    known = root;
    return root;
}

} // namespace auger
