// SPDX-License-Identifier: GPL-3.0-or-later
// While it lives, this process seems to have been started by sudo for that user. Only root's
// processes believe so.
#pragma once

#include <pwd.h>

#include <cstdlib>
#include <string>

namespace auger::test {

class AsCalledBySudo {
  public:
    explicit AsCalledBySudo(const char* name) {
        if (const passwd* user = getpwnam(name)) {
            uid = user->pw_uid;
            gid = user->pw_gid;
            setenv("SUDO_UID", std::to_string(uid).c_str(), 1);
            setenv("SUDO_GID", std::to_string(gid).c_str(), 1);
        }
    }
    ~AsCalledBySudo() {
        unsetenv("SUDO_UID");
        unsetenv("SUDO_GID");
    }
    AsCalledBySudo(const AsCalledBySudo&) = delete;
    AsCalledBySudo& operator=(const AsCalledBySudo&) = delete;

    uid_t uid = 0;
    gid_t gid = 0;
};

} // namespace auger::test
