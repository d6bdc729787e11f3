// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/new_file.h"

#include "loader/process/user_rights.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <utility>

namespace auger {

namespace {

// Why what stands there, if anything does, may not be replaced.
std::optional<std::string> objection(int folder, const std::string& name, uid_t owner,
                                     std::string_view magic) {
    const UniqueFd found(openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!found || fstat(found.get(), &status) != 0)
        return errno == ENOENT ? std::nullopt : std::optional(std::strerror(errno));
    if (S_ISLNK(status.st_mode))
        return "is a symbolic link";
    if (S_ISDIR(status.st_mode))
        return "is a folder";
    if (!S_ISREG(status.st_mode))
        return "exists and is not a regular file";
    if (status.st_uid != owner)
        return "exists and belongs to another user";
    if (magic.empty() || status.st_size == 0)
        return std::nullopt;
    const std::string link = "/proc/self/fd/" + std::to_string(found.get());
    const UniqueFd file(open(link.c_str(), O_RDONLY | O_CLOEXEC));
    std::string begin(magic.size(), '\0');
    if (!file || pread(file.get(), begin.data(), begin.size(), 0) < 0)
        return std::strerror(errno);
    if (begin != magic)
        return "exists and holds something else";
    return std::nullopt;
}

// Hidden, beside the name that is meant.
std::string beside(const std::string& name, std::string_view suffix) {
    return fmt::format(".{}.{}", name.substr(0, 200), suffix);
}

std::string random_suffix() {
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        number = static_cast<uint64_t>(getpid());
    return fmt::format("{:016x}", number);
}

bool give_name(int file, int folder, const std::string& name) {
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    return linkat(AT_FDCWD, link.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

} // namespace

Result<NewFile> NewFile::create(const std::string& path, std::string_view magic) {
    const auto user = invoking_user();
    const UserRights rights(user);
    const std::string hint = rights_hint(user);
    NewFile made;
    made.path_ = path;
    made.magic_ = magic;
    const size_t slash = path.rfind('/');
    made.name_ = slash == path.npos ? path : path.substr(slash + 1);
    const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
    if (made.name_.empty() || made.name_ == "." || made.name_ == "..")
        return Error{"write", path, "is not a file name", {}};
    made.folder_.reset(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!made.folder_)
        return system_error("write", path, hint);
    made.file_.reset(openat(made.folder_.get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    if (!made.file_) {
        // Not every file system has files without names.
        const std::string temporary = beside(made.name_, random_suffix());
        made.file_.reset(openat(made.folder_.get(), temporary.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!made.file_)
            return system_error("write", path, hint);
        made.temporary_name_ = temporary;
    }
    if (auto why = objection(made.folder_.get(), made.name_, user ? user->uid : geteuid(), magic))
        return Error{"write", path, *why, "choose another name"};
    return made;
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)), name_(std::move(other.name_)), magic_(std::move(other.magic_)),
      temporary_name_(std::exchange(other.temporary_name_, {})), folder_(std::move(other.folder_)),
      file_(std::move(other.file_)) {}

NewFile::~NewFile() {
    if (temporary_name_.empty())
        return;
    const UserRights rights(invoking_user());
    unlinkat(folder_.get(), temporary_name_.c_str(), 0);
}

UniqueFd NewFile::descriptor() const {
    return UniqueFd(fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
}

Result<void> NewFile::take_name() {
    const auto user = invoking_user();
    const UserRights rights(user);
    const uid_t owner = user ? user->uid : geteuid();
    // What has come there meanwhile is no more to be replaced than what was.
    if (auto why = objection(folder_.get(), name_, owner, magic_))
        return Error{"write", path_, *why, "choose another name"};
    if (!temporary_name_.empty()) {
        if (renameat(folder_.get(), temporary_name_.c_str(), folder_.get(), name_.c_str()) < 0)
            return system_error("write", path_, rights_hint(user));
        temporary_name_.clear();
        return {};
    }
    if (give_name(file_.get(), folder_.get(), name_))
        return {};
    // Only a file with a name can take another's place. It is always the same one, so that no more
    // than one is left behind if auger is killed just here.
    const std::string next = beside(name_, "next");
    constexpr int attempts = 10; // others may be at the same
    for (int i = 0; i < attempts && errno == EEXIST; i++) {
        if (auto why = objection(folder_.get(), next, owner, {}))
            return Error{"write", path_, next + " " + *why, "choose another name"};
        unlinkat(folder_.get(), next.c_str(), 0);
        if (!give_name(file_.get(), folder_.get(), next))
            continue;
        if (renameat(folder_.get(), next.c_str(), folder_.get(), name_.c_str()) == 0)
            return {};
        const int error = errno;
        unlinkat(folder_.get(), next.c_str(), 0);
        errno = error == ENOENT ? EEXIST : error;
    }
    return system_error("write", path_, rights_hint(user));
}

} // namespace auger
