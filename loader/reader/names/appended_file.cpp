// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/names/appended_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace auger {

AppendedFile::News AppendedFile::read(int fd, AppendedReader& reader) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return {};
    const uint64_t size = std::min(static_cast<uint64_t>(status.st_size), size_limit_);
    // What a reader leaves out may lie beyond the end still.
    const bool same = status.st_dev == device_ && status.st_ino == inode_ && size >= seen_;
    if (!same) {
        reader.begin_anew();
        position_ = 0;
    }
    device_ = status.st_dev;
    inode_ = status.st_ino;
    seen_ = size;

    std::vector<char> chunk;
    uint64_t looked_at = 0;
    News news{!same, false};
    while (position_ < size && looked_at < step_limit) {
        chunk.resize(chunk_size);
        const size_t want = std::min<uint64_t>(chunk_size, size - position_);
        const ssize_t got = pread(fd, chunk.data(), want, static_cast<off_t>(position_));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break; // truncated meanwhile
        looked_at += static_cast<uint64_t>(got);
        const bool full = static_cast<size_t>(got) == chunk_size;
        const uint64_t taken = reader.take({chunk.data(), static_cast<size_t>(got)}, full);
        if (taken == 0)
            break; // unfinished
        position_ += std::min(taken, UINT64_MAX - position_);
        news.any = true;
    }
    news.more = looked_at >= step_limit && position_ < size;
    return news;
}

} // namespace auger
