// SPDX-License-Identifier: GPL-3.0-or-later
// What a file says that holds PHP, an executable or a library: made where it is read, and used
// elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

struct PhpFile {
    struct Code {
        uint64_t address = 0; // as linked
        uint64_t size = 0;    // 0: there is none
        friend bool operator==(const Code&, const Code&) = default;
    };
    uint32_t version = 0;     // 0x080224: 8.2.36; 0: it does not say
    bool thread_safe = false; // ZTS: the rest is not there
    uint64_t globals = 0;     // where executor_globals lies, as linked
    Code loop, cold;          // execute_ex(), and what the compiler has put elsewhere of it

    friend bool operator==(const PhpFile&, const PhpFile&) = default;
};

std::string encode_php_file(const PhpFile& file);
std::optional<PhpFile> decode_php_file(std::string_view bytes);

} // namespace auger
