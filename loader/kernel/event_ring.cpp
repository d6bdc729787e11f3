// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/event_ring.h"

#include <bpf/libbpf.h>

#include <cstring>

namespace auger {

Result<std::unique_ptr<EventRing>> EventRing::make(int map_fd) {
    std::unique_ptr<EventRing> ring(new EventRing());
    ring->ring_ = ring_buffer__new(map_fd, add, ring.get(), nullptr);
    if (!ring->ring_)
        return system_error("open", "event ring");
    return ring;
}

EventRing::~EventRing() {
    ring_buffer__free(ring_);
}

int EventRing::fd() const {
    return ring_buffer__epoll_fd(ring_);
}

int EventRing::add(void* self, void* data, size_t size) {
    auto& ring = *static_cast<EventRing*>(self);
    size_t at = ring.words_.size();
    ring.words_.resize(at + (size + 7) / 8);
    std::memcpy(ring.words_.data() + at, data, size);
    ring.sizes_.push_back(static_cast<uint32_t>(size));
    return 0;
}

size_t EventRing::collect() {
    // A ring that is filled as fast as it is emptied would keep us here: what libbpf returns is
    // bounded only by the producer, and the caller has other work. One pass over a full ring is at
    // most the ring's size, which the callback's copy holds.
    int records = ring_buffer__consume(ring_);
    return records > 0 ? static_cast<size_t>(records) : 0;
}

} // namespace auger
