// SPDX-License-Identifier: GPL-3.0-or-later
// All files are reached through the folder's descriptor and never through links, so nobody else's
// file is read or written, whatever the folders above are turned into.
#include "loader/process/cache_folder.h"

#include "loader/process/proc_info.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>

namespace auger {
namespace {

// No result is larger: tables of some gigabytes of code.
constexpr off_t file_limit = off_t{256} << 20;

bool owned(int fd, mode_t type) {
    struct stat status;
    return fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type &&
           status.st_uid == geteuid() && (status.st_mode & 077) == 0;
}

// No descriptor when it is a link or another's.
UniqueFd private_folder(int parent, const char* name) {
    if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST)
        return {};
    UniqueFd folder(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder || !owned(folder.get(), S_IFDIR))
        return {};
    return folder;
}

std::vector<std::byte> read_whole(int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0 || status.st_size > file_limit)
        return {};
    std::vector<std::byte> bytes(static_cast<size_t>(status.st_size));
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t got =
            pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
        if (got <= 0)
            return {};
        done += static_cast<size_t>(got);
    }
    return bytes;
}

bool write_whole(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t done = write(fd, bytes.data(), bytes.size());
        if (done <= 0)
            return false;
        bytes = bytes.subspan(static_cast<size_t>(done));
    }
    return true;
}

struct CachedFile {
    std::string name;
    uint64_t size;
    timespec used;
};

std::vector<CachedFile> files_in(int folder) {
    std::vector<CachedFile> files;
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(again < 0 ? nullptr : fdopendir(again),
                                                      closedir);
    while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) {
        struct stat status;
        if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode))
            files.push_back(
                {entry->d_name, static_cast<uint64_t>(status.st_blocks) * 512, status.st_mtim});
    }
    return files;
}

} // namespace

std::string CacheFolder::base_of_user() {
    if (!invoking_user()) {
        if (const char* set = std::getenv("XDG_CACHE_HOME"); set && set[0] == '/')
            return set;
        if (const char* home = std::getenv("HOME"); home && home[0] == '/')
            return std::string(home) + "/.cache";
    }
    std::string buffer(16 << 10, '\0');
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
        return {};
    return std::string(found->pw_dir) + "/.cache";
}

CacheFolder::CacheFolder(const std::string& base, const char* name, uint64_t size_limit)
    : size_limit_(size_limit) {
    if (base.empty())
        return;
    mkdir(base.c_str(), 0700);
    const UniqueFd above(open(base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const UniqueFd ours = above ? private_folder(above.get(), "auger") : UniqueFd();
    if (ours)
        folder_ = private_folder(ours.get(), name);
}

std::vector<std::byte> CacheFolder::load(const std::string& file) const {
    if (!folder_ || file.empty())
        return {};
    const UniqueFd cached(openat(folder_.get(), file.c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!cached || !owned(cached.get(), S_IFREG))
        return {};
    return read_whole(cached.get());
}

void CacheFolder::touch(const std::string& file) const {
    utimensat(folder_.get(), file.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void CacheFolder::store(const std::string& file, std::span<const std::byte> content) const {
    if (!folder_ || file.empty() || content.size() > std::min<uint64_t>(size_limit_, file_limit))
        return;
    static std::atomic<unsigned> number = 0;
    const std::string temporary =
        "." + std::to_string(getpid()) + "." + std::to_string(number++) + ".new";
    {
        // One that a killed process with this number left.
        unlinkat(folder_.get(), temporary.c_str(), 0);
        const UniqueFd fresh(openat(folder_.get(), temporary.c_str(),
                                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!fresh)
            return;
        if (!write_whole(fresh.get(), content) ||
            renameat(folder_.get(), temporary.c_str(), folder_.get(), file.c_str()) != 0)
            unlinkat(folder_.get(), temporary.c_str(), 0);
    }
    trim();
}

void CacheFolder::trim() const {
    std::vector<CachedFile> files = files_in(folder_.get());
    uint64_t total = 0;
    for (const CachedFile& file : files)
        total += file.size;
    std::sort(files.begin(), files.end(), [](const CachedFile& a, const CachedFile& b) {
        return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
    });
    for (const CachedFile& file : files) {
        if (total <= size_limit_)
            return;
        if (unlinkat(folder_.get(), file.name.c_str(), 0) == 0)
            total -= file.size;
    }
}

} // namespace auger
