// SPDX-License-Identifier: GPL-3.0-or-later
// Creating files that the user named while auger may be running as root: under sudo the file is
// made with the invoking user's own rights, so it is theirs and lies only where they may write.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <string>
#include <string_view>

namespace auger {

// Creates `path` with mode 0600 and opens it for writing. No symbolic link is followed at the last
// component. An existing file is replaced (by rename, so that readers of the old one keep it) only
// when it is a regular file of the same user that is empty or begins with `magic`; everything else
// that exists is left alone and is an error.
Result<UniqueFd> create_output_file(const std::string& path, std::string_view magic);

} // namespace auger
