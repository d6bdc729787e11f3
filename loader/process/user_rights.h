// SPDX-License-Identifier: GPL-3.0-or-later
// UserRights: what auger leaves behind is made with the rights of whoever called sudo.
#pragma once

#include "loader/process/proc_info.h"

#include <sys/fsuid.h>
#include <unistd.h>

#include <optional>
#include <string>

namespace auger {

// While it lives, this thread's rights in file systems are those of the invoking user: the kernel
// then decides, without a gap between question and answer, what that user may create and replace.
class UserRights {
  public:
    explicit UserRights(const std::optional<InvokingUser>& user) : active_(user.has_value()) {
        if (active_) {
            gid_ = setfsgid(user->gid);
            uid_ = setfsuid(user->uid);
        }
    }
    UserRights(const UserRights&) = delete;
    UserRights& operator=(const UserRights&) = delete;
    ~UserRights() {
        if (active_) {
            setfsuid(static_cast<uid_t>(uid_));
            setfsgid(static_cast<gid_t>(gid_));
        }
    }

  private:
    bool active_;
    int uid_ = 0, gid_ = 0;
};

// What to tell whoever may not write somewhere, and wonders why.
inline std::string rights_hint(const std::optional<InvokingUser>& user) {
    return user ? "it is created with the rights of " + user->name + ", who called sudo" : "";
}

} // namespace auger
