// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/tracepoints/tracefs.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

namespace auger {
namespace {

constexpr size_t longest_format = 256 << 10; // bytes

bool is_tracefs(int fd) {
    struct statfs kind = {};
    return fstatfs(fd, &kind) == 0 && kind.f_type == TRACEFS_MAGIC;
}

UniqueFd open_folder(int parent, const char* path) {
    return UniqueFd(openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Of this process alone: attached nowhere. (glibc has functions for these calls from 2.36 on;
// packaging/tarball runs on earlier ones.)
UniqueFd mount_unseen() {
    const UniqueFd context(static_cast<int>(syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC)));
    if (!context ||
        syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
        return {};
    return UniqueFd(
        static_cast<int>(syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC,
                                 MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)));
}

// Folders: a category's tracepoints are some.
std::vector<std::string> entries(int parent, const char* path) {
    std::vector<std::string> names;
    UniqueFd folder = open_folder(parent, path);
    if (!folder)
        return names;
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(folder.get()), closedir);
    if (!listing)
        return names;
    folder.release();
    while (const dirent* entry = readdir(listing.get())) {
        const std::string name = entry->d_name;
        struct stat status = {};
        if (!name.starts_with('.') &&
            fstatat(dirfd(listing.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(status.st_mode))
            names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
}

// Of a category or a name, of which a path is made.
bool is_plain(const std::string& name) {
    return !name.empty() && name.front() != '.' && name.find('/') == name.npos &&
           name.find('\0') == name.npos;
}

} // namespace

Tracefs Tracefs::open() {
    Tracefs tracefs;
    int why = ENOENT;
    const auto look_into = [&](const UniqueFd& mounted) {
        if (mounted && is_tracefs(mounted.get()))
            tracefs.events_ = open_folder(mounted.get(), "events");
        else if (!mounted && errno != ENOENT)
            why = errno;
        return bool(tracefs.events_);
    };
    // The last one stays mounted once somebody has looked there.
    if (look_into(open_folder(AT_FDCWD, "/sys/kernel/tracing")) || look_into(mount_unseen()) ||
        look_into(open_folder(AT_FDCWD, "/sys/kernel/debug/tracing")))
        return tracefs;
    tracefs.fault_ = {
        "find tracepoints", "",
        fmt::format("tracefs cannot be read: {}", why == ENODEV   ? "this kernel has none"
                                                  : why == ENOENT ? "it is not mounted"
                                                                  : std::strerror(why)),
        why == EACCES || why == EPERM ? "run as root" : tracefs_remedy, Error::Kind::unsupported};
    return tracefs;
}

Tracefs Tracefs::at(const std::string& folder) {
    Tracefs tracefs;
    tracefs.events_ = open_folder(AT_FDCWD, folder.c_str());
    if (!tracefs.events_)
        tracefs.fault_ = system_error("find tracepoints", folder, tracefs_remedy);
    return tracefs;
}

const std::vector<std::string>& Tracefs::categories() const {
    if (categories_.empty() && events_)
        categories_ = entries(events_.get(), ".");
    // ftrace's own, to which no program can be attached.
    std::erase(categories_, "ftrace");
    return categories_;
}

const std::vector<std::string>& Tracefs::names(const std::string& category) const {
    static const std::vector<std::string> none;
    if (const auto known = names_.find(category); known != names_.end())
        return known->second;
    std::vector<std::string> found;
    if (events_ && is_plain(category))
        found = entries(events_.get(), category.c_str());
    return found.empty() ? none : names_.emplace(category, std::move(found)).first->second;
}

void Tracefs::forget() const {
    categories_.clear();
    names_.clear();
}

Result<std::string> Tracefs::format_text(const std::string& category,
                                         const std::string& name) const {
    const std::string path = fmt::format("{}/{}/format", category, name);
    if (!events_)
        return fault_;
    if (!is_plain(category) || !is_plain(name))
        return Error{"read", path, "it is no name of a tracepoint", {}};
    const UniqueFd file(openat(events_.get(), path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        return system_error("read", path, errno == EACCES ? "run as root" : "");
    std::string text;
    std::array<char, 4096> part;
    for (;;) {
        const ssize_t size = ::read(file.get(), part.data(), part.size());
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return system_error("read", path);
        if (size == 0)
            return text.substr(0, text.find("\nprint fmt:") + 1);
        text.append(part.data(), static_cast<size_t>(size));
        if (text.size() > longest_format)
            return Error{"read", path, fmt::format("longer than {} bytes", longest_format), {}};
    }
}

Result<EventFormat> Tracefs::format(const std::string& category, const std::string& name) const {
    const auto text = format_text(category, name);
    if (!text)
        return text.error();
    auto format = parse_event_format(*text);
    if (!format) {
        Error error = format.error();
        error.subject = fmt::format("of tracepoint:{}:{}", category, name);
        return error;
    }
    return format;
}

std::string missing_kernel_probes() {
    const bool kprobes = access("/sys/bus/event_source/devices/kprobe/type", F_OK) == 0;
    return kprobes ? "" : "CONFIG_KPROBES";
}

} // namespace auger
