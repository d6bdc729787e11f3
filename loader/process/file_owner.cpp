// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/file_owner.h"

#include "loader/process/trusted_file.h"

#include <sys/stat.h>

namespace auger {
namespace {

FileUser user_below(uid_t uid, int root) {
    FileUser user{uid};
    struct stat folder;
    if (root >= 0 && fstat(root, &folder) == 0) {
        user.device = folder.st_dev;
        user.inode = folder.st_ino;
    }
    return user;
}

} // namespace

FileOwner FileOwner::of_file(int fd, int root) {
    struct stat status;
    if (root < 0 && is_trusted_file(fd))
        return {Kind::trusted, {}};
    if (fstat(fd, &status) != 0)
        return {Kind::nobody, {}};
    if (!has_believable_owner(fd))
        return {Kind::nobody, {status.st_uid, status.st_dev, 0}};
    const bool for_others = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    return {for_others ? Kind::nobody : Kind::user, user_below(status.st_uid, root)};
}

FileOwner FileOwner::of_program(uid_t uid, int root) {
    return {Kind::generated, user_below(uid, root)};
}

} // namespace auger
