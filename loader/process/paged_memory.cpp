// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/paged_memory.h"

#include "loader/base/read_clock.h"
#include "loader/process/proc_info.h"

#include <ctime>
#include <utility>

namespace auger {

PagedMemory::PagedMemory(pid_t pid) : tid_(living_thread(pid)) {}

bool PagedMemory::read(uint64_t address, void* bytes, size_t size) {
    return copy_from_pages(address, static_cast<std::byte*>(bytes), size,
                           [this](uint64_t number) { return page(number); });
}

void PagedMemory::allow(uint64_t ns) {
    until_ns_ = read_clock(CLOCK_MONOTONIC) + ns;
}

const MemoryPage* PagedMemory::page(uint64_t number) {
    if (const auto known = pages_.find(number); known != pages_.end())
        return known->second.get();
    late_ = late_ || read_clock(CLOCK_MONOTONIC) > until_ns_;
    if (late_)
        return nullptr;
    if (pages_.size() >= most_pages)
        pages_.clear();
    auto page = std::make_unique<MemoryPage>();
    const MemoryRead read =
        read_process_memory(tid_, number * page_bytes, page->data(), page->size());
    late_ = read == MemoryRead::late;
    if (read != MemoryRead::whole)
        page.reset();
    return pages_.emplace(number, std::move(page)).first->second.get();
}

} // namespace auger
