// SPDX-License-Identifier: GPL-3.0-or-later
// EventRing: takes the records out of the BPF ring, in order. They are copied first and decoded
// later, so that the mappings that came before them can be applied in between.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/base/time_slice.h"
#include "loader/stream/record_queue.h"
#include "loader/stream/wire_decoder.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

struct ring_buffer;

namespace auger {

class EventRing {
  public:
    static Result<std::unique_ptr<EventRing>> make(int map_fd);
    ~EventRing();

    // So many times collect() and drain() take all that was in the ring when the first began.
    static constexpr size_t passes = 10;

    // Becomes readable when the ring is filling up or a process came or went; until collect().
    int fd() const { return wakeups_.get(); }
    // Copies what is in the ring now, as far as there is room beside what was not handed over yet.
    void collect();
    // Hands over what was collected, in order, until the slice is over or `handle` answers false,
    // which leaves that record for the next time; returns how many records that were.
    template <typename Handler>
    size_t drain(const TimeSlice& slice, Handler&& handle) {
        return records_.drain(slice, [&](std::span<const std::byte> record) {
            if (auto view = decode_wire(record))
                return handle(*view);
            malformed_++;
            return true;
        });
    }
    // Whether records were left when a slice was over, or did not fit beside them.
    bool more() const { return !records_.empty() || full_; }
    // Everything that was submitted before the last collect() began is handed over.
    bool caught_up() const { return records_.empty() && !behind_; }
    // Records that did not decode: always 0 unless kernel and user space disagree.
    uint64_t malformed() const { return malformed_; }

  private:
    // A page of a BPF ring that begins with a position: the consumer's is the first, the
    // producer's the second (kernel/bpf/ringbuf.c; libbpf tells them from 1.3 on).
    class PositionPage {
      public:
        PositionPage() = default;
        PositionPage(int map_fd, int index);
        ~PositionPage();
        PositionPage& operator=(PositionPage&& other) noexcept {
            std::swap(at_, other.at_);
            return *this;
        }
        explicit operator bool() const { return at_ != nullptr; }
        uint64_t read() const { return __atomic_load_n(at_, __ATOMIC_ACQUIRE); }

      private:
        const uint64_t* at_ = nullptr;
    };

    EventRing() = default;
    static int add(void* self, void* data, size_t size);

    ring_buffer* ring_ = nullptr;
    UniqueFd wakeups_;
    RecordQueue records_;
    PositionPage consumed_, produced_;
    bool full_ = false;   // the last collect() left something in the ring
    bool behind_ = false; // of what was in it before: behind a record that is still being written
    uint64_t malformed_ = 0;
};

} // namespace auger
