// SPDX-License-Identifier: GPL-3.0-or-later
// Where a version of CPython keeps what is read of its frames, functions and texts. Changes with
// each minor version of CPython.
#pragma once

#include "bpf/wire/python.h"
#include "loader/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace auger {

// Offsets in str and bytes objects. The bits of a str's state are the same in all versions known.
struct PythonObjects {
    uint32_t text_length;
    uint32_t text_state;
    uint32_t text_ascii; // where the characters of one that is ASCII begin, and of the others
    uint32_t text_wide;
    uint32_t bytes_length;
    uint32_t bytes_data;
};

struct PythonLayout {
    wire_python_layout frames;
    PythonObjects objects;
};

// Of Py_Version, as 0x030b02f0; 0: there is none. `debug_offsets`: how _PyRuntime begins in the
// file, which may claim anything; 3.11 and 3.12 do not need it.
Result<PythonLayout> python_layout(uint32_t hex_version, std::span<const std::byte> debug_offsets);

} // namespace auger
