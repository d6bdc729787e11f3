// SPDX-License-Identifier: GPL-3.0-or-later
// Which function of C a name of Python's stands for, as far as it is written in C.
#pragma once

#include "loader/runtimes/native_function.h"
#include "loader/runtimes/python/layout.h"
#include "loader/runtimes/read_memory.h"

#include <cstdint>
#include <string_view>

namespace auger {

// `name`: "zlib.compress", "socket.socket.recv", "len" (of builtins). Of the first interpreter,
// whose _PyRuntime lies at `runtime`. Functions and methods that a PyMethodDef tells of, also when
// Cython made it.
NativeFunction find_native_function(const ReadMemory& read, const PythonLayout& layout,
                                    uint64_t runtime, std::string_view name);

} // namespace auger
