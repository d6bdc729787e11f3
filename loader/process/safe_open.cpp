// SPDX-License-Identifier: GPL-3.0-or-later
// The file is found with O_PATH, which has no side effect, looked at, and only then opened.
#include "loader/process/safe_open.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>

namespace auger {
namespace {

Result<UniqueFd> open_if_regular(UniqueFd found, const std::string& path) {
    struct stat status;
    if (fstat(found.get(), &status) != 0)
        return system_error("open", path);
    if (!S_ISREG(status.st_mode))
        return Error{"open", path, "not a regular file", {}};
    const std::string link = "/proc/self/fd/" + std::to_string(found.get());
    UniqueFd file(open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file)
        return system_error("open", path);
    return file;
}

} // namespace

Result<UniqueFd> open_regular_beneath(int root, const std::string& path, Symlinks symlinks) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    if (symlinks == Symlinks::refuse)
        how.resolve |= RESOLVE_NO_SYMLINKS;
    UniqueFd found(static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how))));
    if (!found)
        return system_error("open", path);
    return open_if_regular(std::move(found), path);
}

Result<UniqueFd> open_regular(const std::string& path) {
    UniqueFd found(open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!found)
        return system_error("open", path);
    return open_if_regular(std::move(found), path);
}

Result<UniqueFd> open_folder(const std::string& path) {
    UniqueFd folder(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder)
        return system_error("open folder", path);
    return folder;
}

Result<std::string> read_all(int fd, size_t limit) {
    std::string text;
    // Files of /proc come a page at a time, however much is asked for: the text has no room made
    // for more than has come.
    std::array<char, size_t{64} << 10> chunk;
    while (text.size() < limit) {
        const ssize_t got = pread(fd, chunk.data(), std::min(chunk.size(), limit - text.size()),
                                  static_cast<off_t>(text.size()));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return system_error("read", {});
        if (got == 0)
            break;
        text.append(chunk.data(), static_cast<size_t>(got));
    }
    return text;
}

Result<std::string> read_file(const std::string& path, size_t limit) {
    UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file)
        return system_error("read", path);
    auto text = read_all(file.get(), limit);
    if (!text) {
        Error error = text.error();
        error.subject = path;
        return error;
    }
    return text;
}

} // namespace auger
