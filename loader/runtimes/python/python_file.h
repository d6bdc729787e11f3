// SPDX-License-Identifier: GPL-3.0-or-later
// What a file says that holds CPython, an executable or a library: made where it is read, and used
// elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct PythonFile {
    static constexpr size_t debug_offsets_limit = 2048;

    uint64_t runtime = 0;                 // where _PyRuntime lies, as linked
    uint32_t hex_version = 0;             // Py_Version, 0x030b02f0; 0: there is none, before 3.11
    std::vector<std::byte> debug_offsets; // how _PyRuntime begins in the file; empty before 3.13

    friend bool operator==(const PythonFile&, const PythonFile&) = default;
};

std::string encode_python_file(const PythonFile& file);
std::optional<PythonFile> decode_python_file(std::string_view bytes);

} // namespace auger
