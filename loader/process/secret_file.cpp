// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/secret_file.h"

#include "loader/base/fd.h"
#include "loader/process/user_rights.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

namespace auger {

Result<std::optional<std::string>> read_secret_file(const std::string& operation,
                                                    const std::string& path, Symlinks symlinks,
                                                    size_t limit) {
    const auto user = invoking_user();
    const UserRights rights(user);
    const int links = symlinks == Symlinks::refuse ? O_NOFOLLOW : 0;
    const UniqueFd file(open(path.c_str(), O_RDONLY | links | O_NONBLOCK | O_CLOEXEC));
    if (!file && errno == ENOENT)
        return std::optional<std::string>();
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0)
        return system_error(operation, path, rights_hint(user, "read"));
    if (!S_ISREG(status.st_mode))
        return Error{operation, path, "is not a regular file", "choose another name"};
    if (std::ranges::count(our_users(), status.st_uid) == 0)
        return Error{operation, path, "belongs to another user", "who would know what it holds"};
    // Its owner may have a group read it, say a scraper's.
    if ((status.st_mode & (S_IRWXO | S_IWGRP)) != 0)
        return Error{operation, path, "others may read or change it",
                     "chmod 600 it, and write another token: this one may be known"};
    auto text = read_all(file.get(), limit);
    if (!text)
        return text.error();
    return std::optional(std::move(*text));
}

} // namespace auger
