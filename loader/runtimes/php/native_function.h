// SPDX-License-Identifier: GPL-3.0-or-later
// Which function of C a name of PHP's stands for, as far as it is written in C.
#pragma once

#include "loader/runtimes/native_function.h"
#include "loader/runtimes/php/layout.h"
#include "loader/runtimes/read_memory.h"

#include <cstdint>
#include <string_view>

namespace auger {

// `name`: "preg_match", "PDO::query", "Redis\Client::get", in upper or lower case. `globals`: where
// executor_globals lies.
NativeFunction find_native_function(const ReadMemory& read, const PhpLayout& layout,
                                    uint64_t globals, std::string_view name);

} // namespace auger
