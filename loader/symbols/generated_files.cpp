// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/generated_files.h"

#include "loader/process/safe_open.h"

#include <fmt/format.h>

#include <sys/stat.h>

namespace auger {

bool is_jit_dump(std::string_view path) {
    constexpr std::string_view before = "jit-", after = ".dump";
    path.remove_prefix(path.rfind('/') + 1);
    if (!path.starts_with(before) || !path.ends_with(after) ||
        path.size() <= before.size() + after.size())
        return false;
    path = path.substr(before.size(), path.size() - before.size() - after.size());
    return path.find_first_not_of("0123456789") == path.npos;
}

Result<void> check_generated_file(int fd, const std::string& path, uid_t uid) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return system_error("read", path);
    if (!S_ISREG(status.st_mode))
        return Error{"read", path, "not a regular file", {}};
    if (status.st_uid != uid && status.st_uid != 0)
        return Error{"read", path, "owned by another user than the process", {}};
    return {};
}

Result<UniqueFd> open_perf_map(int root, pid_t namespace_pid, uid_t uid) {
    const std::string path = fmt::format("/tmp/perf-{}.map", namespace_pid);
    auto file = open_regular_beneath(root, path, Symlinks::refuse);
    if (file)
        if (auto checked = check_generated_file(file->get(), path, uid); !checked)
            return checked.error();
    return file;
}

} // namespace auger
