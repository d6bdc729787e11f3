// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/process_memory.h"

#include "loader/process/memory_pages.h"
#include "loader/process/proc_info.h"
#include "loader/process/run_in_time.h"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace auger {

ProcessMemory::ProcessMemory(pid_t pid) : tid_(living_thread(pid)) {}

bool copy_process_memory(pid_t tid, uint64_t address, void* bytes, size_t size) {
    const iovec here{bytes, size};
    const iovec there{reinterpret_cast<void*>(address), size};
    return process_vm_readv(tid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

MemoryRead read_process_memory(pid_t tid, uint64_t address, void* bytes, size_t size) {
    struct Read {
        std::vector<std::byte> bytes;
        bool whole = false;
    };
    const auto read = std::make_shared<Read>();
    read->bytes.resize(size);
    const bool done = run_in_time([read, tid, address] {
        read->whole = copy_process_memory(tid, address, read->bytes.data(), read->bytes.size());
    });
    if (!done)
        return MemoryRead::late;
    if (!read->whole)
        return MemoryRead::unreadable;
    std::memcpy(bytes, read->bytes.data(), size);
    return MemoryRead::whole;
}

MemoryRead read_process_memory(pid_t tid, std::span<const MemoryRange> ranges) {
    struct Read {
        std::vector<std::byte> bytes;
        std::vector<iovec> there;
        bool whole = false;
    };
    const auto read = std::make_shared<Read>();
    size_t size = 0;
    for (const MemoryRange& range : ranges) {
        read->there.push_back({reinterpret_cast<void*>(range.address), range.bytes.size()});
        size += range.bytes.size();
    }
    read->bytes.resize(size);
    const bool done = run_in_time([read, tid] {
        const iovec here{read->bytes.data(), read->bytes.size()};
        read->whole = process_vm_readv(tid, &here, 1, read->there.data(), read->there.size(), 0) ==
                      static_cast<ssize_t>(read->bytes.size());
    });
    if (!done)
        return MemoryRead::late;
    if (!read->whole)
        return MemoryRead::unreadable;
    size_t at = 0;
    for (const MemoryRange& range : ranges) {
        std::memcpy(range.bytes.data(), read->bytes.data() + at, range.bytes.size());
        at += range.bytes.size();
    }
    return MemoryRead::whole;
}

bool ProcessMemory::read(uint64_t address, void* bytes, size_t size) {
    if (late_)
        return false;
    const MemoryRead read = read_process_memory(tid_, address, bytes, size);
    late_ = read == MemoryRead::late;
    return read == MemoryRead::whole;
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
