// SPDX-License-Identifier: GPL-3.0-or-later
// What a file says that holds PHP, an executable or a library: made where it is read, and used
// elsewhere.
#pragma once

#include "loader/runtimes/loop_code.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

struct PhpFile {
    uint32_t version = 0;     // 0x080224: 8.2.36; 0: it does not say
    bool thread_safe = false; // ZTS: the rest is not there
    uint64_t globals = 0;     // where executor_globals lies, as linked
    LoopCode loop;            // execute_ex(), as linked

    friend bool operator==(const PhpFile&, const PhpFile&) = default;
};

std::string encode_php_file(const PhpFile& file);
std::optional<PhpFile> decode_php_file(std::string_view bytes);

} // namespace auger
