// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/code_file.h"

#include "loader/process/trusted_file.h"

#include <fmt/format.h>

#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>

namespace auger {

std::shared_ptr<const CodeFile> CodeFile::open(UniqueFd fd, std::string path, Root root,
                                               const std::optional<Root>& seen_in) {
    struct stat status;
    auto headers = read_program_headers(fd.get());
    if (!headers || fstat(fd.get(), &status) != 0)
        return nullptr;
    std::shared_ptr<CodeFile> file(new CodeFile);
    if (seen_in)
        file->owner_ = FileOwner::of_file(fd.get(), *seen_in ? (*seen_in)->get() : -1);
    else
        file->owner_ = {FileOwner::Kind::nobody, {status.st_uid, status.st_dev, 0}};
    // With access control lists others may be behind the group's bits.
    const bool believable = seen_in && has_believable_owner(fd.get());
    if (believable && file->owner_.kind == FileOwner::Kind::nobody && !(status.st_mode & S_IWOTH) &&
        fgetxattr(fd.get(), "system.posix_acl_access", nullptr, 0) < 0)
        file->writers_ = status.st_gid;
    file->fd_ = std::move(fd);
    file->path_ = std::move(path);
    file->root_ = std::move(root);
    file->headers_ = *std::move(headers);
    file->device_ = status.st_dev;
    file->inode_ = status.st_ino;
    file->size_ = static_cast<uint64_t>(status.st_size);
    return file;
}

std::string CodeFile::path_and_owner() const {
    return owner_.kind == FileOwner::Kind::trusted
               ? path_
               : fmt::format("{} of user {}", path_, owner_.user.uid);
}

bool CodeFile::is_code(uint64_t offset) const {
    return std::ranges::any_of(headers_.segments, [&](const ElfSegment& segment) {
        return segment.executable && offset >= segment.offset &&
               offset - segment.offset < segment.file_size;
    });
}

} // namespace auger
