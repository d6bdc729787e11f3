// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/process_memory.h"

#include "loader/process/memory_pages.h"
#include "loader/process/proc_info.h"
#include "loader/process/run_in_time.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace auger {

ProcessMemory::ProcessMemory(pid_t pid) : tid_(living_thread(pid)) {}

namespace {

UniqueFd open_of(pid_t tid, const char* name) {
    return UniqueFd(open(fmt::format("/proc/{}/{}", tid, name).c_str(), O_RDONLY | O_CLOEXEC));
}

} // namespace

OpenMemory::OpenMemory(pid_t tid)
    : tid_(tid), bytes_(open_of(tid, "mem")), pages_(open_of(tid, "pagemap")) {}

OpenMemory::Pages OpenMemory::pages(uint64_t address, size_t size) const {
    constexpr uint64_t present = uint64_t{1} << 63, of_file = uint64_t{1} << 61;
    std::array<uint64_t, 64> entries;
    const uint64_t end = (address + size + page_bytes - 1) / page_bytes;
    for (uint64_t at = address / page_bytes; at < end;) {
        const size_t count = std::min<uint64_t>(end - at, entries.size());
        const size_t bytes = count * sizeof(uint64_t);
        const ssize_t read =
            pread(pages_.get(), entries.data(), bytes, static_cast<off_t>(at * sizeof(uint64_t)));
        if (read == 0)
            return Pages::gone;
        if (read != static_cast<ssize_t>(bytes) ||
            !std::ranges::all_of(std::span(entries).first(count), [](uint64_t entry) {
                return (entry & (present | of_file)) == present;
            }))
            return Pages::others;
        at += count;
    }
    return Pages::present_private;
}

bool OpenMemory::copy(uint64_t address, void* bytes, size_t size) const {
    const auto whole = static_cast<ssize_t>(size);
    const Pages which = bytes_ && pages_ ? pages(address, size) : Pages::others;
    if (which == Pages::gone)
        return false;
    if (which == Pages::present_private)
        return pread(bytes_.get(), bytes, size, static_cast<off_t>(address)) == whole;
    const iovec here{bytes, size};
    const iovec there{reinterpret_cast<void*>(address), size};
    return process_vm_readv(tid_, &here, 1, &there, 1, 0) == whole;
}

MemoryRead read_process_memory(pid_t tid, uint64_t address, void* bytes, size_t size) {
    struct Read {
        std::vector<std::byte> bytes;
        bool whole = false;
    };
    const auto read = std::make_shared<Read>();
    read->bytes.resize(size);
    const bool done = run_in_time(tid, [read, tid, address] {
        read->whole = OpenMemory(tid).copy(address, read->bytes.data(), read->bytes.size());
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
        std::vector<std::pair<uint64_t, size_t>> there; // addresses and sizes
        bool whole = true;
    };
    const auto read = std::make_shared<Read>();
    size_t size = 0;
    for (const MemoryRange& range : ranges) {
        read->there.emplace_back(range.address, range.bytes.size());
        size += range.bytes.size();
    }
    read->bytes.resize(size);
    const bool done = run_in_time(tid, [read, tid] {
        const OpenMemory memory(tid);
        std::byte* bytes = read->bytes.data();
        for (const auto& [address, length] : read->there) {
            read->whole = read->whole && memory.copy(address, bytes, length);
            bytes += length;
        }
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
