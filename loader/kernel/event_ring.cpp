// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/event_ring.h"

#include <bpf/libbpf.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

namespace auger {

namespace {
// As much as is decoded in some ten milliseconds: the rest may as well stay in the ring, which
// holds eight times that.
constexpr size_t queue_bytes = 2 << 20;
} // namespace

EventRing::PositionPage::PositionPage(int map_fd, int index) {
    const long page = sysconf(_SC_PAGESIZE);
    void* const at = mmap(nullptr, static_cast<size_t>(page), PROT_READ, MAP_SHARED, map_fd,
                          static_cast<off_t>(index) * page);
    if (at != MAP_FAILED)
        at_ = static_cast<const uint64_t*>(at);
}

EventRing::PositionPage::~PositionPage() {
    if (at_)
        munmap(const_cast<uint64_t*>(at_), static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

Result<std::unique_ptr<EventRing>> EventRing::make(int map_fd) {
    std::unique_ptr<EventRing> ring(new EventRing());
    ring->ring_ = ring_buffer__new(map_fd, add, ring.get(), nullptr);
    ring->wakeups_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
    ring->consumed_ = PositionPage(map_fd, 0);
    ring->produced_ = PositionPage(map_fd, 1);
    // Edges: that there is something in the ring is nothing to wake for.
    epoll_event event = {EPOLLIN | EPOLLET, {}};
    if (!ring->ring_ || !ring->wakeups_ || !ring->consumed_ || !ring->produced_ ||
        epoll_ctl(ring->wakeups_.get(), EPOLL_CTL_ADD, map_fd, &event) < 0)
        return system_error("open", "event ring");
    return ring;
}

EventRing::~EventRing() {
    ring_buffer__free(ring_);
}

int EventRing::add(void* self, void* data, size_t size) {
    auto& ring = *static_cast<EventRing*>(self);
    ring.records_.add({static_cast<const std::byte*>(data), size});
    ring.full_ = ring.records_.bytes() >= queue_bytes;
    return ring.full_ ? -1 : 0;
}

void EventRing::collect() {
    epoll_event event;
    while (epoll_wait(wakeups_.get(), &event, 1, 0) > 0)
        ;
    full_ = records_.bytes() >= queue_bytes;
    const uint64_t produced = produced_.read();
    // What the callback has taken is consumed, whatever it returns.
    if (!full_)
        (void)ring_buffer__consume(ring_);
    behind_ = consumed_.read() < produced;
}

} // namespace auger
