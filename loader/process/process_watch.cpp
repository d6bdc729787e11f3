// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/process_watch.h"

#include "loader/process/safe_open.h"

#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string_view>

namespace auger {

// The kernel writes records at data_head and we free them by moving data_tail.
class ProcessWatch::Ring {
  public:
    Ring(UniqueFd fd, void* memory, size_t page, size_t data)
        : fd_(std::move(fd)), memory_(memory), page_(page), data_(data) {}
    Ring(Ring&& other) noexcept
        : fd_(std::move(other.fd_)), memory_(std::exchange(other.memory_, nullptr)),
          page_(other.page_), data_(other.data_) {}
    Ring& operator=(Ring&&) = delete;
    ~Ring() {
        if (memory_)
            munmap(memory_, page_ + data_);
    }

    int fd() const { return fd_.get(); }

    // Calls `use` with each whole record; returns false when the ring's content made no sense, and
    // then all of it is thrown away.
    template <typename Use>
    bool read(std::vector<std::byte>& scratch, Use use) {
        auto* control = static_cast<perf_event_mmap_page*>(memory_);
        const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
        uint64_t tail = control->data_tail;
        bool sound = head - tail <= data_;
        was_full_ = head - tail > data_ - largest_record;
        while (sound && tail < head) {
            perf_event_header header;
            copy(tail, &header, sizeof(header));
            if (header.size < sizeof(header) || header.size > head - tail) {
                sound = false;
                break;
            }
            scratch.resize(header.size);
            copy(tail, scratch.data(), header.size);
            use(std::span<const std::byte>(scratch));
            tail += header.size;
        }
        __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
        return sound;
    }

    // When it was read last there was no room for some records: what is lost the kernel tells only
    // with the next one that has room, and on an idle CPU there is none for long.
    bool was_full() const { return was_full_; }

  private:
    static constexpr uint64_t largest_record = 8192; // a mapping's, with its path of PATH_MAX
    bool was_full_ = false;

    void copy(uint64_t position, void* to, size_t size) const {
        const auto* data = static_cast<const std::byte*>(memory_) + page_;
        const size_t at = position & (data_ - 1);
        const size_t first = std::min(size, data_ - at);
        std::memcpy(to, data + at, first);
        std::memcpy(static_cast<std::byte*>(to) + first, data, size - first);
    }

    UniqueFd fd_;
    void* memory_;
    size_t page_, data_;
};

namespace {

UniqueFd open_event(int cpu) {
    perf_event_attr attr{};
    attr.type = PERF_TYPE_SOFTWARE;
    attr.size = sizeof(attr);
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    attr.sample_id_all = 1;
    attr.mmap = 1; // executable mappings only: mmap_data stays 0
    attr.mmap2 = 1;
    attr.comm = 1;
    attr.comm_exec = 1;
    attr.task = 1;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
    attr.exclude_kernel = 1;
    attr.watermark = 1;
    attr.wakeup_watermark = 1; // processes are rare events: tell us at once
    return UniqueFd(
        static_cast<int>(syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

Error open_error() {
    if (errno == EACCES || errno == EPERM)
        return {"watch processes",
                {},
                std::strerror(errno),
                "needs CAP_PERFMON or root",
                Error::Kind::unsupported};
    return system_error("watch processes", {});
}

} // namespace

ProcessWatch::ProcessWatch() = default;
ProcessWatch::ProcessWatch(ProcessWatch&&) noexcept = default;
ProcessWatch& ProcessWatch::operator=(ProcessWatch&& other) noexcept {
    epoll_ = std::move(other.epoll_);
    rings_ = std::move(other.rings_);
    pending_ = std::move(other.pending_);
    lost_ = other.lost_;
    malformed_ = other.malformed_;
    return *this;
}
ProcessWatch::~ProcessWatch() = default;

size_t ProcessWatch::cpus() const {
    return rings_.size();
}

Result<ProcessWatch> ProcessWatch::make(size_t ring_pages) {
    ProcessWatch watch;
    watch.epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
    if (!watch.epoll_)
        return system_error("watch processes", {});
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const auto cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
    for (int cpu = 0; cpu < cpus; cpu++) {
        UniqueFd event = open_event(cpu);
        if (!event && errno == ENODEV)
            continue; // offline
        if (!event)
            return open_error();
        const size_t data = ring_pages * page;
        void* memory =
            mmap(nullptr, page + data, PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0);
        if (memory == MAP_FAILED)
            return system_error("map the ring of process events", {},
                                "see /proc/sys/kernel/perf_event_mlock_kb");
        Ring ring(std::move(event), memory, page, data);
        epoll_event interest{};
        interest.events = EPOLLIN;
        if (epoll_ctl(watch.epoll_.get(), EPOLL_CTL_ADD, ring.fd(), &interest) != 0)
            return system_error("watch processes", {});
        watch.rings_.push_back(std::move(ring));
    }
    if (watch.rings_.empty())
        return Error{"watch processes", {}, "no CPU is online", {}, Error::Kind::unsupported};
    return watch;
}

size_t ProcessWatch::poll(const std::function<void(const ProcessEvent&)>& handler) {
    pending_.clear();
    std::vector<std::byte> scratch;
    for (Ring& ring : rings_) {
        const bool sound = ring.read(scratch, [&](std::span<const std::byte> record) {
            ProcessEvent event;
            switch (decode_perf_record(record, event)) {
            case Decoded::event:
                lost_ += event.lost;
                pending_.push_back(std::move(event));
                break;
            case Decoded::malformed:
                malformed_++;
                break;
            case Decoded::ignored:
                break;
            }
        });
        malformed_ += !sound;
        if (!sound || ring.was_full()) {
            ProcessEvent event;
            event.kind = ProcessEvent::Kind::lost;
            pending_.push_back(std::move(event));
        }
    }
    // A process may be born on one CPU and map on another.
    std::stable_sort(pending_.begin(), pending_.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    for (const ProcessEvent& event : pending_)
        handler(event);
    return pending_.size();
}

} // namespace auger
