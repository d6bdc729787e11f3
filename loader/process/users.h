// SPDX-License-Identifier: GPL-3.0-or-later
// Users of this machine, by name and number.
#pragma once

#include "loader/base/result.h"

#include <sys/types.h>

#include <map>
#include <string>

namespace auger {

// Of a name, or of a number, which needs no entry in the user data base. Fails with kind `usage`.
Result<uid_t> find_user(const std::string& name_or_number);

// Names by number; each is asked for once, since the data base may be on another machine.
class UserNames {
  public:
    // The number as text where it has no name.
    const std::string& of(uid_t uid);

  private:
    std::map<uid_t, std::string> known_;
};

} // namespace auger
