// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/output_file.h"

#include "loader/process/proc_info.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

namespace auger {

namespace {

constexpr size_t buffer_bytes = 256 << 10;

uid_t our_user() {
    const auto user = invoking_user();
    return user ? user->uid : geteuid();
}

// Whether the file that stands there, if any, may be replaced.
Result<void> check_replaceable(int folder, const std::string& name, const std::string& path) {
    struct stat status {};
    if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? Result<void>() : system_error("write", path);
    if (!S_ISREG(status.st_mode))
        return Error{"write", path,
                     S_ISLNK(status.st_mode)   ? "a symbolic link of that name is there"
                     : S_ISDIR(status.st_mode) ? "a folder of that name is there"
                                               : "what is there is not a regular file",
                     "choose another name"};
    if (status.st_uid != our_user() && status.st_uid != geteuid())
        return Error{"write", path, "the file there belongs to somebody else",
                     "choose another name, or remove it"};
    return {};
}

std::string random_suffix() {
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        number = static_cast<uint64_t>(getpid());
    return fmt::format("{:016x}", number);
}

} // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
    const std::filesystem::path whole(path);
    OutputFile made;
    made.path_ = path;
    made.name_ = whole.filename();
    if (made.name_.empty() || made.name_ == "." || made.name_ == "..")
        return Error{"write", path, "a file needs a name", {}};
    const std::string folder = whole.has_parent_path() ? whole.parent_path() : ".";
    made.folder_.reset(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!made.folder_)
        return system_error("write", path);
    if (auto free = check_replaceable(made.folder_.get(), made.name_, path); !free)
        return free.error();
    made.temporary_name_ = fmt::format(".{}.{}", made.name_.substr(0, 200), random_suffix());
    made.file_.reset(openat(made.folder_.get(), made.temporary_name_.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!made.file_) {
        const int error = errno;
        made.temporary_name_.clear();
        return system_error("write", path, "", error);
    }
    if (const auto user = invoking_user();
        user && fchown(made.file_.get(), user->uid, user->gid) < 0)
        return system_error("give to its user", path);
    return made;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), name_(std::move(other.name_)),
      temporary_name_(std::exchange(other.temporary_name_, {})), folder_(std::move(other.folder_)),
      file_(std::move(other.file_)), buffer_(std::move(other.buffer_)), error_(other.error_) {}

OutputFile::~OutputFile() {
    if (!temporary_name_.empty())
        unlinkat(folder_.get(), temporary_name_.c_str(), 0);
}

void OutputFile::write(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= buffer_bytes)
        flush();
}

void OutputFile::flush() {
    for (std::string_view rest = buffer_; !rest.empty() && !error_;) {
        const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
        if (written >= 0)
            rest.remove_prefix(static_cast<size_t>(written));
        else if (errno != EINTR)
            error_ = errno;
    }
    buffer_.clear();
}

Result<void> OutputFile::commit() {
    flush();
    if (error_)
        return system_error("write", path_, "", error_);
    // What has come there meanwhile is no more to be replaced than what was.
    if (auto free = check_replaceable(folder_.get(), name_, path_); !free)
        return free;
    if (renameat(folder_.get(), temporary_name_.c_str(), folder_.get(), name_.c_str()) < 0)
        return system_error("write", path_);
    temporary_name_.clear();
    return {};
}

} // namespace auger
