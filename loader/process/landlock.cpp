// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/landlock.h"

#include "loader/base/fd.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace auger {
namespace {

constexpr uint64_t all_file_rights = // of the first version (Linux 5.13)
    (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

int new_rules() {
    landlock_ruleset_attr attributes{};
    attributes.handled_access_fs = all_file_rights;
    return static_cast<int>(
        syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
}

} // namespace

void give_up_file_names(const AllowedFiles& files) {
    const UniqueFd rules(new_rules());
    if (!rules)
        return;
    constexpr uint64_t of_files = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
    constexpr uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    constexpr uint64_t writing = reading | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR;
    const auto allow = [&](const std::string& path, uint64_t rights) {
        const UniqueFd file(open(path.c_str(), O_PATH | O_CLOEXEC));
        struct stat status;
        if (!file || fstat(file.get(), &status) != 0)
            return;
        landlock_path_beneath_attr beneath{};
        beneath.allowed_access = S_ISDIR(status.st_mode) ? rights : rights & of_files;
        beneath.parent_fd = file.get();
        syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    };
    for (const std::string& path : files.read)
        allow(path, reading);
    for (const std::string& path : files.write)
        allow(path, writing);
    syscall(SYS_landlock_restrict_self, rules.get(), 0);
}

} // namespace auger
