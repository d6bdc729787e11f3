// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/runtimes/python/asyncio_file.h"
#include "loader/runtimes/python/python_file.h"

#include <optional>

namespace auger {

// Nothing when the file does not hold CPython: one look at the names of its sections, and at those
// that it exports.
std::optional<PythonFile> read_python(const ElfFile& file);
// Nothing when it does not hold _asyncio, or that of a CPython before 3.14.
std::optional<AsyncioFile> read_asyncio(const ElfFile& file);

} // namespace auger
