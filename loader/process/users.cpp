// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/users.h"

#include <pwd.h>

#include <array>
#include <charconv>
#include <limits>

namespace auger {
namespace {

using Buffer = std::array<char, 16 << 10>; // more than any entry has

} // namespace

Result<uid_t> find_user(const std::string& name_or_number) {
    const char* end = name_or_number.data() + name_or_number.size();
    uid_t uid = 0;
    const auto [stop, error] = std::from_chars(name_or_number.data(), end, uid);
    // The largest number means "no user" to the kernel.
    if (error == std::errc() && stop == end && uid != std::numeric_limits<uid_t>::max())
        return uid;
    Buffer buffer;
    passwd entry{};
    passwd* found = nullptr;
    if (getpwnam_r(name_or_number.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
        !found)
        return Error{"find user", name_or_number, "there is no such user",
                     "`getent passwd` lists them; a number will do, too", Error::Kind::usage};
    return found->pw_uid;
}

const std::string& UserNames::of(uid_t uid) {
    const auto [at, added] = known_.try_emplace(uid);
    if (added) {
        Buffer buffer;
        passwd entry{};
        passwd* found = nullptr;
        const bool known =
            getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found;
        at->second = known ? found->pw_name : std::to_string(uid);
    }
    return at->second;
}

} // namespace auger
