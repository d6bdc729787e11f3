// SPDX-License-Identifier: GPL-3.0-or-later
// UserRights: what auger opens by a name that a user gave, and what it leaves behind, is opened and
// made with the rights of whoever called sudo; without sudo, with all of root's, which auger
// otherwise does without.
#pragma once

#include "loader/process/capabilities.h"
#include "loader/process/proc_info.h"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace auger {

// While it lives, this thread's rights in file systems are those of the invoking user, groups
// included: the kernel then decides, without a gap between question and answer, what that user may
// open, create and replace. Other threads keep theirs. Without an invoking user it puts in force
// what capabilities_on_request() says.
class UserRights {
  public:
    explicit UserRights(const std::optional<InvokingUser>& user);
    UserRights(const UserRights&) = delete;
    UserRights& operator=(const UserRights&) = delete;
    ~UserRights();

  private:
    bool active_;
    int uid_ = 0, gid_ = 0;               // before
    std::vector<gid_t> groups_;           // likewise
    std::optional<CapabilitySet> before_; // what was in force; nothing: there is no more to be had
};

// What to tell whoever may not do something there, and wonders why. `done`: what auger does.
inline std::string rights_hint(const std::optional<InvokingUser>& user,
                               const std::string& done = "created") {
    return user ? "it is " + done + " with the rights of " + user->name + ", who called sudo" : "";
}

} // namespace auger
