// SPDX-License-Identifier: GPL-3.0-or-later
// Opening files whose names or folders a target controls: only regular files are ever opened for
// reading, so that no FIFO blocks and no device has side effects, and paths of another root cannot
// lead out of it.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <string>

#include <sys/stat.h>

namespace auger {

enum class Symlinks { follow, refuse };

// `path` is taken below `root` (a folder's descriptor), which symbolic links cannot leave; a
// leading
// '/' means the root itself. Fails for everything but a regular file.
Result<UniqueFd> open_regular_beneath(int root, const std::string& path, Symlinks symlinks);

// The same below our own root. Links of /proc (exe, map_files) are followed here.
Result<UniqueFd> open_regular(const std::string& path);

// O_PATH of a folder, for open_regular_beneath().
Result<UniqueFd> open_folder(const std::string& path);

// The whole content, at most `limit` bytes, read with pread. Works for /proc files, whose size is
// 0.
Result<std::string> read_all(int fd, size_t limit);
// The same of a file by path, for our own and the kernel's files.
Result<std::string> read_file(const std::string& path, size_t limit = 64 << 20);

} // namespace auger
