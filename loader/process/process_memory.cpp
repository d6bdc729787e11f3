// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/process_memory.h"

#include "loader/process/proc_info.h"

#include <sys/uio.h>

#include <algorithm>

namespace auger {

namespace {
constexpr uint64_t page_bytes = 4096;
} // namespace

ProcessMemory::ProcessMemory(pid_t pid) : tid_(living_thread(pid)) {}

bool ProcessMemory::read(uint64_t address, void* bytes, size_t size) const {
    const iovec here{bytes, size};
    const iovec there{reinterpret_cast<void*>(address), size};
    return process_vm_readv(tid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

std::optional<uint64_t> ProcessMemory::word(uint64_t address) {
    if (address % sizeof(uint64_t) != 0) {
        uint64_t value;
        return read(address, &value, sizeof(value)) ? std::optional(value) : std::nullopt;
    }
    uint64_t index = (address - start_) / sizeof(uint64_t);
    if (index >= words_) {
        // The next page may not be there.
        const size_t size = std::min(window_bytes, page_bytes - address % page_bytes);
        start_ = address;
        words_ = read(address, window_.data(), size) ? size / sizeof(uint64_t) : 0;
        index = 0;
    }
    return words_ ? std::optional(window_[index]) : std::nullopt;
}

} // namespace auger
