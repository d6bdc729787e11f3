// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/user_rights.h"

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace auger {
namespace {

std::vector<gid_t> groups_in_force() {
    std::vector<gid_t> groups(static_cast<size_t>(std::max(getgroups(0, nullptr), 0)));
    groups.resize(static_cast<size_t>(
        std::max(getgroups(static_cast<int>(groups.size()), groups.data()), 0)));
    return groups;
}

// The C library's setgroups() changes all threads.
void set_groups(const std::vector<gid_t>& groups) {
    (void)!syscall(SYS_setgroups, groups.size(), groups.data());
}

} // namespace

UserRights::UserRights(const std::optional<InvokingUser>& user) : active_(user.has_value()) {
    if (const CapabilitySet more = capabilities_on_request()) {
        before_ = effective_capabilities();
        set_effective_capabilities(*before_ | more);
    }
    if (!active_)
        return;
    groups_ = groups_in_force();
    set_groups(groups_of(*user));
    gid_ = setfsgid(user->gid);
    uid_ = setfsuid(user->uid); // the last: with it go root's rights to everything
}

UserRights::~UserRights() {
    const int error = errno; // is still to be told
    if (active_) {
        setfsuid(static_cast<uid_t>(uid_));
        setfsgid(static_cast<gid_t>(gid_));
        set_groups(groups_);
    }
    if (before_)
        set_effective_capabilities(*before_);
    errno = error;
}

} // namespace auger
