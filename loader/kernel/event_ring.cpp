// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/event_ring.h"

#include <bpf/libbpf.h>
#include <sys/epoll.h>

#include <cstring>

namespace auger {

namespace {
// One pass takes no more than this, however fast the ring is filled meanwhile.
constexpr size_t pass_bytes = 16 << 20;
} // namespace

Result<std::unique_ptr<EventRing>> EventRing::make(int map_fd) {
    std::unique_ptr<EventRing> ring(new EventRing());
    ring->ring_ = ring_buffer__new(map_fd, add, ring.get(), nullptr);
    ring->wakeups_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
    // Edges: that there is something in the ring is nothing to wake for.
    epoll_event event = {EPOLLIN | EPOLLET, {}};
    if (!ring->ring_ || !ring->wakeups_ ||
        epoll_ctl(ring->wakeups_.get(), EPOLL_CTL_ADD, map_fd, &event) < 0)
        return system_error("open", "event ring");
    return ring;
}

EventRing::~EventRing() {
    ring_buffer__free(ring_);
}

int EventRing::add(void* self, void* data, size_t size) {
    auto& ring = *static_cast<EventRing*>(self);
    size_t at = ring.words_.size();
    ring.words_.resize(at + (size + 7) / 8);
    std::memcpy(ring.words_.data() + at, data, size);
    ring.sizes_.push_back(static_cast<uint32_t>(size));
    return ring.words_.size() * sizeof(uint64_t) < pass_bytes ? 0 : -1;
}

size_t EventRing::collect() {
    epoll_event event;
    while (epoll_wait(wakeups_.get(), &event, 1, 0) > 0)
        ;
    const size_t before = sizes_.size();
    // What the callback has taken is consumed, whatever it returns.
    (void)ring_buffer__consume(ring_);
    return sizes_.size() - before;
}

} // namespace auger
