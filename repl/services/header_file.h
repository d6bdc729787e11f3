// SPDX-License-Identifier: GPL-3.0-or-later
// A file of HTTP headers, one a line, for what a receiver asks for: tokens, tenants. Empty lines
// and those that begin with '#' are passed over.
#pragma once

#include "loader/base/result.h"

#include <string>
#include <vector>

namespace auger {

// Fails when others may read the file, or a line is no header, or one that auger makes itself.
Result<std::vector<std::string>> read_header_file(const std::string& path);

} // namespace auger
