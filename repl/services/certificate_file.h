// SPDX-License-Identifier: GPL-3.0-or-later
// A file of certificates that the user names, of who may sign a receiver's.
#pragma once

#include "loader/base/result.h"

#include <string>

namespace auger {

// Its text, which is PEM. Empty for no path. Read with the rights of whoever called sudo.
Result<std::string> read_certificate_file(const std::string& path);

} // namespace auger
