// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/state_folder.h"

#include "loader/process/proc_info.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace auger {

Result<std::string> state_folder() {
    if (const char* state = std::getenv("XDG_STATE_HOME"); state && state[0] == '/')
        return std::string(state) + "/auger";
    std::string home;
    if (const auto user = invoking_user())
        home = user->home;
    else if (const char* set = std::getenv("HOME"); set && set[0] == '/')
        home = set;
    else if (const passwd* entry = getpwuid(getuid()))
        home = entry->pw_dir;
    if (home.empty())
        return Error{"find", "the state folder", "the user has no home folder", ""};
    return home + "/.local/state/auger";
}

Result<void> make_folders_above(const std::string& path) {
    for (size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
        const std::string folder = path.substr(0, slash);
        if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
            return system_error("make folder", folder);
    }
    return {};
}

} // namespace auger
