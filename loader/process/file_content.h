// SPDX-License-Identifier: GPL-3.0-or-later
// FileContent: tells one content of a file from another that is written in its place.
#pragma once

#include "loader/base/result.h"

#include <chrono>
#include <cstdint>

namespace auger {

struct FileContent {
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t size = 0;       // bytes
    int64_t modified_ns = 0; // st_mtime
    int64_t changed_ns = 0;  // st_ctime: nobody can set it

    // The longest step of the kernel's clock for files: two ticks of 10 ms (CONFIG_HZ=100).
    static constexpr std::chrono::milliseconds clock_step{20};

    static Result<FileContent> of(int fd);
    // Of what is read from a file from now on, a later write might bear the same time, because the
    // kernel's clock for files goes in steps: true when the last change was that short ago.
    bool just_changed() const;
    friend bool operator==(const FileContent&, const FileContent&) = default;
};

} // namespace auger
