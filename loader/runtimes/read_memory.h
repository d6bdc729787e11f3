// SPDX-License-Identifier: GPL-3.0-or-later
// How what is known of runtimes reads a process: in tests, from what looks like one.
#pragma once

#include "loader/process/process_memory.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace auger {

using ReadMemory = std::function<MemoryRead(uint64_t address, void* bytes, size_t size)>;

} // namespace auger
