// SPDX-License-Identifier: GPL-3.0-or-later
// The environment of sudo is believed only as far as the user data base confirms it.
#include "loader/process/proc_info.h"

#include <pwd.h>
#include <unistd.h>

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

} // namespace auger
