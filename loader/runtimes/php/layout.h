// SPDX-License-Identifier: GPL-3.0-or-later
// Where a version of PHP keeps what is read of its frames and functions. Changes with minor
// versions of PHP.
#pragma once

#include "bpf/wire/php.h"
#include "loader/base/result.h"
#include "loader/runtimes/layout_table.h"
#include "loader/runtimes/php/php_file.h"

namespace auger {

using PhpLayout = wire_php_layout;
using PhpLayoutTable = LayoutTable<PhpLayout, WIRE_PHP_LAYOUTS>;

// Fails when PHP's functions cannot be shown, and says why. The file may claim anything.
Result<PhpLayout> php_layout(const PhpFile& file);

} // namespace auger
