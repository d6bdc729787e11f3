// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/c_library.h"

#include "loader/base/fd.h"
#include "loader/process/proc_maps.h"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

namespace auger {
namespace {

// The two files that we map.
std::vector<UniqueFd> own_files() {
    std::vector<UniqueFd> files;
#ifdef __GLIBC__
    const auto maps = read_maps(getpid());
    if (!maps)
        return files;
    for (const uint64_t address :
         {reinterpret_cast<uint64_t>(&gnu_get_libc_version), uint64_t{getauxval(AT_BASE)}}) {
        for (const Mapping& mapping : *maps) {
            if (address < mapping.start || address >= mapping.end)
                continue;
            if (auto file = open_mapped_file(getpid(), mapping))
                files.push_back(std::move(*file));
        }
    }
#endif
    return files;
}

bool same_bytes(int one, int other) {
    struct stat of_one, of_other;
    if (fstat(one, &of_one) != 0 || fstat(other, &of_other) != 0 ||
        of_one.st_size != of_other.st_size)
        return false;
    if (of_one.st_dev == of_other.st_dev && of_one.st_ino == of_other.st_ino)
        return true;
    std::vector<char> left(256 << 10), right(left.size());
    for (off_t at = 0; at < of_one.st_size;) {
        const ssize_t got = pread(one, left.data(), left.size(), at);
        if (got <= 0)
            return false;
        for (ssize_t done = 0; done < got;) {
            const ssize_t part =
                pread(other, right.data() + done, static_cast<size_t>(got - done), at + done);
            if (part <= 0)
                return false;
            done += part;
        }
        if (std::memcmp(left.data(), right.data(), static_cast<size_t>(got)) != 0)
            return false;
        at += got;
    }
    return true;
}

} // namespace

bool is_own_c_library(int fd) {
    static const std::vector<UniqueFd> own = own_files();
    return std::ranges::any_of(own,
                               [&](const UniqueFd& file) { return same_bytes(fd, file.get()); });
}

} // namespace auger
