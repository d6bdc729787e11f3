// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/trusted_file.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace auger {

bool has_believable_owner(int fd) {
    constexpr std::array<decltype(statfs::f_type), 8> foreign = {
        FUSE_SUPER_MAGIC, NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, CIFS_SUPER_MAGIC,
        SMB2_SUPER_MAGIC, AFS_SUPER_MAGIC, V9FS_MAGIC,      CEPH_SUPER_MAGIC,
    };
    struct stat status {};
    struct statfs system {};
    return fstat(fd, &status) == 0 && fstatfs(fd, &system) == 0 && S_ISREG(status.st_mode) &&
           std::ranges::find(foreign, system.f_type) == foreign.end();
}

bool is_trusted_file(int fd) {
    struct stat status {};
    return has_believable_owner(fd) && fstat(fd, &status) == 0 &&
           (status.st_uid == 0 || status.st_uid == geteuid()) &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

} // namespace auger
