// SPDX-License-Identifier: GPL-3.0-or-later
// What a file says that holds CPython, an executable or a library: made where it is read, and used
// elsewhere.
#pragma once

#include "loader/runtimes/loop_code.h"

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
    uint32_t hex_version = 0;             // as PY_VERSION_HEX, 0x030b02f0; 0: it does not say
    std::vector<std::byte> debug_offsets; // how _PyRuntime begins in the file; empty before 3.13
    LoopCode loop; // _PyEval_EvalFrameDefault(), as linked; not looked for since 3.11

    friend bool operator==(const PythonFile&, const PythonFile&) = default;
};

// The version that stands among the constants of a CPython 3.7 to 3.10, as PY_VERSION_HEX; 0: none,
// that of an alpha, beta or candidate, or several.
uint32_t python_version_in(std::string_view constants);

std::string encode_python_file(const PythonFile& file);
std::optional<PythonFile> decode_python_file(std::string_view bytes);

} // namespace auger
