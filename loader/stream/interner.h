// SPDX-License-Identifier: GPL-3.0-or-later
// Interner: gives threads, locations and stacks their dense ids, and tells the sink of each new one
// before it is used.
#pragma once

#include "loader/stream/events.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace auger {

class Interner {
  public:
    explicit Interner(EventSink& sink) : sink_(sink) {}

    // `cgroup` counts when the thread is new under this name.
    ThreadId thread(uint32_t pid, uint32_t tid, std::string_view comm,
                    std::string_view cgroup = {});
    // A thread under the name that it had last; nothing when it is new.
    std::optional<ThreadId> last_thread(uint32_t pid, uint32_t tid) const;
    LocationId location(const Location& location);
    StackId stack(std::span<const LocationId> leaf_first);

    size_t locations() const { return locations_.size(); }
    const Location& location_of(LocationId id) const { return location_list_[id.index()]; }
    size_t stacks() const { return stack_spans_.size(); }

  private:
    struct LocationHash {
        size_t operator()(const Location& location) const noexcept;
    };
    struct Span {
        uint64_t offset;
        uint32_t size;
    };

    EventSink& sink_;
    struct ThreadNames {
        std::vector<std::pair<std::string, ThreadId>> all;
        size_t last = 0;
    };
    std::unordered_map<uint64_t, ThreadNames> threads_;
    uint32_t next_thread_ = 0;
    std::unordered_map<Location, LocationId, LocationHash> locations_;
    std::vector<Location> location_list_;
    // Stacks lie one behind the other in stack_pool_; the multimap finds candidates by hash.
    std::unordered_multimap<uint64_t, StackId> stacks_;
    std::vector<Span> stack_spans_;
    std::vector<LocationId> stack_pool_;
};

} // namespace auger
