// SPDX-License-Identifier: GPL-3.0-or-later
// The content of jitdump files, as JITs write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace auger::test {

inline std::string number(uint64_t value, size_t bytes) {
    std::string text(reinterpret_cast<const char*>(&value), sizeof value);
    text.resize(bytes);
    return text;
}

inline std::string jit_dump_header() {
    return number(0x4a695444, 4) + number(1, 4) + number(40, 4) + number(62, 4) + number(0, 4) +
           number(7, 4) + number(0, 16);
}

inline std::string jit_record(uint32_t kind, const std::string& content) {
    return number(kind, 4) + number(16 + content.size(), 4) + number(0, 8) + content;
}

// `name` with its zero.
inline std::string jit_load(uint64_t address, uint64_t size, std::string_view name) {
    return jit_record(0, number(7, 4) + number(7, 4) + number(address, 8) + number(address, 8) +
                             number(size, 8) + number(0, 8) + std::string(name) + '\0' +
                             std::string(size < 4096 ? size : 0, '\xcc'));
}

inline std::string jit_move(uint64_t from, uint64_t to, uint64_t size) {
    return jit_record(1, number(7, 4) + number(7, 4) + number(to, 8) + number(from, 8) +
                             number(to, 8) + number(size, 8) + number(0, 8));
}

} // namespace auger::test
