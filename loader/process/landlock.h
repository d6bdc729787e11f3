// SPDX-License-Identifier: GPL-3.0-or-later
// What may be opened by its name, by landlock(7).
#pragma once

#include <string>
#include <vector>

namespace auger {

// Paths of files and folders, of the latter with all that is in them. What is not there is left
// out.
struct AllowedFiles {
    std::vector<std::string> read{};
    std::vector<std::string> write{}; // read, make and remove, too
};

// The calling thread, and what it makes, opens nothing else by its name any more, however that is
// reached (Linux 5.13; no_new_privs must be set). Where the kernel has no Landlock nothing happens.
void give_up_file_names(const AllowedFiles& files = {});

} // namespace auger
