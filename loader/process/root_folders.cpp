// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/root_folders.h"

#include "loader/process/proc_info.h"
#include "loader/process/safe_open.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
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

// A folder as the kernel knows it already: its file system, which may be another process's (FUSE),
// is not asked.
std::optional<struct statx> known_of(const std::string& folder) {
    struct statx known;
    if (statx(AT_FDCWD, folder.c_str(), AT_STATX_DONT_SYNC, STATX_INO, &known) != 0)
        return std::nullopt;
    return known;
}

bool same_device(const struct statx& a, const struct statx& b) {
    return a.stx_dev_major == b.stx_dev_major && a.stx_dev_minor == b.stx_dev_minor;
}

// Names one view of the file system: the mount namespace and the folder that is its root.
std::string root_identity(const std::string& process) {
    const std::string mounts = mount_namespace(process);
    const auto root = known_of(process + "/root");
    if (mounts.empty() || !root)
        return {};
    return fmt::format("{} {}:{} {}", mounts, root->stx_dev_major, root->stx_dev_minor,
                       root->stx_ino);
}

// A root within /proc, as processes have that give up all files: our own readers, of which each one
// would make another view of every library, to be read by another reader. With our mounts they
// brought along nothing, so what they map is as we see it. A container's processes bring their
// mounts along, and may have such a root, too: their files are not ours for that.
bool has_no_files(const std::string& process) {
    const auto root = known_of(process + "/root"), proc = known_of("/proc");
    return root && proc && same_device(*root, *proc) &&
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
