// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/output_file.h"

#include "loader/process/proc_info.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

#include <cstdio>

namespace auger {
namespace {

// While it lives, this thread's rights in file systems are those of the invoking user: the kernel
// then decides, without a gap between question and answer, what that user may create and replace.
class UserRights {
  public:
    explicit UserRights(const std::optional<InvokingUser>& user) : active_(user.has_value()) {
        if (active_) {
            gid_ = setfsgid(user->gid);
            uid_ = setfsuid(user->uid);
        }
    }
    UserRights(const UserRights&) = delete;
    UserRights& operator=(const UserRights&) = delete;
    ~UserRights() {
        if (active_) {
            setfsuid(static_cast<uid_t>(uid_));
            setfsgid(static_cast<gid_t>(gid_));
        }
    }

  private:
    bool active_;
    int uid_ = 0, gid_ = 0;
};

UniqueFd create_new(int folder, const std::string& name) {
    return UniqueFd(
        openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
}

// Nothing when the existing file may be replaced, else why not.
std::optional<std::string> objection(int folder, const std::string& name, uid_t owner,
                                     std::string_view magic) {
    const UniqueFd found(openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (!found || fstat(found.get(), &status) != 0)
        return std::strerror(errno);
    if (S_ISLNK(status.st_mode))
        return "is a symbolic link";
    if (S_ISDIR(status.st_mode))
        return "is a folder";
    if (!S_ISREG(status.st_mode))
        return "exists and is not a regular file";
    if (status.st_uid != owner)
        return "exists and belongs to another user";
    if (status.st_size == 0)
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

} // namespace

Result<UniqueFd> create_output_file(const std::string& path, std::string_view magic) {
    const auto user = invoking_user();
    const UserRights rights(user);
    const std::string hint =
        user ? "it is created with the rights of " + user->name + ", who called sudo" : "";

    const size_t slash = path.rfind('/');
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    if (name.empty() || name == "." || name == "..")
        return Error{"create", path, "is no file name", {}};
    const UniqueFd folder(open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder)
        return system_error("create", path, hint);

    UniqueFd file = create_new(folder.get(), name);
    if (file)
        return file;
    if (errno != EEXIST)
        return system_error("create", path, hint);
    if (auto why = objection(folder.get(), name, user ? user->uid : geteuid(), magic))
        return Error{"create", path, *why, "choose another name"};

    // A new file takes the old one's place in one step.
    constexpr int attempts = 100;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const std::string temporary =
            ".auger-" + std::to_string(getpid()) + "-" + std::to_string(attempt);
        file = create_new(folder.get(), temporary);
        if (!file && errno == EEXIST)
            continue;
        if (!file)
            return system_error("create", path, hint);
        if (renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) == 0)
            return file;
        const int error_number = errno;
        unlinkat(folder.get(), temporary.c_str(), 0);
        return system_error("replace", path, hint, error_number);
    }
    return system_error("create", path, hint, EEXIST);
}

} // namespace auger
