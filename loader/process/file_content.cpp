// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/file_content.h"

#include <sys/stat.h>

#include <cstdlib>
#include <ctime>

namespace auger {

namespace {

int64_t nanoseconds(const timespec& time) {
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

} // namespace

Result<FileContent> FileContent::of(int fd) {
    struct stat status = {};
    if (fstat(fd, &status) != 0)
        return system_error("look at file", "");
    return FileContent{status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size),
                       nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)};
}

bool FileContent::just_changed() const {
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    // A clock that was set back would make it true for long.
    return std::llabs(nanoseconds(now) - changed_ns) < std::chrono::nanoseconds(clock_step).count();
}

} // namespace auger
