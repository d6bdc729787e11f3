// SPDX-License-Identifier: GPL-3.0-or-later
// The environment of sudo is believed only as far as the user data base confirms it.
#include "loader/process/proc_info.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace auger {
namespace {

std::optional<uint32_t> id_from_environment(const char* name) {
    const char* text = std::getenv(name);
    if (!text)
        return std::nullopt;
    const std::string_view digits = text;
    uint32_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    // -1 means "leave it as it is" to setuid and its kin.
    if (digits.empty() || error != std::errc() || stop != digits.data() + digits.size() ||
        value == std::numeric_limits<uint32_t>::max())
        return std::nullopt;
    return value;
}

} // namespace

std::optional<InvokingUser> invoking_user() {
    const auto uid = id_from_environment("SUDO_UID");
    const auto gid = id_from_environment("SUDO_GID");
    if (geteuid() != 0 || !uid || !gid)
        return std::nullopt;
    std::string buffer(16 << 10, '\0');
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(*uid, &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
        return std::nullopt;
    return InvokingUser{*uid, *gid, entry.pw_name, entry.pw_dir};
}

std::vector<gid_t> groups_of(const InvokingUser& user) {
    int count = 64;
    std::vector<gid_t> groups(static_cast<size_t>(count));
    if (getgrouplist(user.name.c_str(), user.gid, groups.data(), &count) < 0) {
        groups.resize(static_cast<size_t>(std::max(count, 1)));
        count = static_cast<int>(groups.size());
        if (getgrouplist(user.name.c_str(), user.gid, groups.data(), &count) < 0)
            return {user.gid};
    }
    groups.resize(static_cast<size_t>(count));
    return groups;
}

std::vector<uid_t> our_users() {
    std::vector<uid_t> users{0, geteuid()};
    if (const auto user = invoking_user())
        users.push_back(user->uid);
    return users;
}

} // namespace auger
