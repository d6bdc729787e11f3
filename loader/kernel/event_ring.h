// SPDX-License-Identifier: GPL-3.0-or-later
// EventRing: takes the records out of the BPF ring, in order. They are copied first and decoded
// later, so that the mappings that came before them can be applied in between.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/stream/wire_decoder.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

struct ring_buffer;

namespace auger {

class EventRing {
  public:
    static Result<std::unique_ptr<EventRing>> make(int map_fd);
    ~EventRing();

    // Becomes readable when the ring is filling up or a process came or went; until collect().
    int fd() const { return wakeups_.get(); }
    // Copies what is in the ring now; returns the number of records.
    size_t collect();
    // Hands over what was collected and forgets it.
    template <typename Handler>
    void drain(Handler&& handle) {
        size_t at = 0;
        for (uint32_t size : sizes_) {
            auto* bytes = reinterpret_cast<const std::byte*>(words_.data() + at);
            if (auto view = decode_wire({bytes, size}))
                handle(*view);
            else
                malformed_++;
            at += (size + 7) / 8;
        }
        words_.clear();
        sizes_.clear();
    }
    // Records that did not decode: always 0 unless kernel and user space disagree.
    uint64_t malformed() const { return malformed_; }

  private:
    EventRing() = default;
    static int add(void* self, void* data, size_t size);

    ring_buffer* ring_ = nullptr;
    UniqueFd wakeups_;
    std::vector<uint64_t> words_; // records one behind the other, each aligned to 8 bytes
    std::vector<uint32_t> sizes_;
    uint64_t malformed_ = 0;
};

} // namespace auger
