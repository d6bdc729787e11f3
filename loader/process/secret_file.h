// SPDX-License-Identifier: GPL-3.0-or-later
// Files that hold what others must not know: tokens.
#pragma once

#include "loader/base/result.h"
#include "loader/process/safe_open.h"

#include <optional>
#include <string>

namespace auger {

// The content, at most `limit` bytes of it, read with the invoking user's rights, of a regular file
// that belongs to that user (or to whom auger runs as) and is closed to others; its group may read
// it. Nothing: there is no such file. `operation`: "read the token from".
Result<std::optional<std::string>> read_secret_file(const std::string& operation,
                                                    const std::string& path, Symlinks symlinks,
                                                    size_t limit);

} // namespace auger
