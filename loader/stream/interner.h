// SPDX-License-Identifier: GPL-3.0-or-later
// Interner: gives threads, locations and stacks their dense ids, and tells the sink of each new one
// before it is used. Threads come and go for as long as auger runs, so an id of a thread or stack
// of which the sink can hold nothing any more is given to another one, which is defined under it.
// Locations are bounded by the code that there is, and by who asks for them.
#pragma once

#include "loader/stream/events.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace auger {

// How many of the last samples and slow calls a sink holds at most.
struct Retention {
    uint64_t samples = UINT64_MAX;
    uint64_t slow_calls = UINT64_MAX;
};

// Asked for again and again: a sink may come to hold fewer.
using RetentionOf = std::function<Retention()>;

class Interner {
  public:
    explicit Interner(
        EventSink& sink, RetentionOf retention = [] { return Retention(); })
        : sink_(sink), retention_(std::move(retention)) {}
    Interner(EventSink& sink, Retention retention)
        : Interner(sink, [retention] { return retention; }) {}

    // What is asked for from now on is of another sample, or of another slow call.
    void next_sample();
    void next_slow_call();

    // `cgroup` and `kernel` count when the thread is new under this name, and `container` also when
    // its names were not known before.
    ThreadId thread(uint32_t pid, uint32_t tid, std::string_view comm, std::string_view cgroup = {},
                    const ContainerNames& container = {}, bool kernel = false);
    // A thread under the name that it had last; nothing when it is new.
    std::optional<ThreadId> last_thread(uint32_t pid, uint32_t tid);
    LocationId location(const Location& location);
    bool knows(const Location& location) const { return locations_.contains(location); }
    StackId stack(std::span<const LocationId> leaf_first);

    size_t locations() const { return locations_.size(); }
    const Location& location_of(LocationId id) const { return location_list_[id.index()]; }
    // Ids that were ever given.
    size_t threads() const { return threads_.size(); }
    size_t stacks() const { return stacks_.size(); }
    size_t memory_bytes() const;

  private:
    struct LocationHash {
        size_t operator()(const Location& location) const noexcept;
    };
    // Counters as they were when an id was last asked for.
    struct Use {
        uint64_t sample = 0;
        uint64_t slow_call = 0; // 0: never for one
    };
    struct Thread {
        uint64_t key = 0; // pid << 32 | tid
        std::string comm;
        size_t cgroup = 0; // its hash
        bool container_known = false;
        Use use;
        bool free = false;
    };
    struct Names { // of one thread, never empty
        std::vector<ThreadId> all;
        ThreadId last;
    };
    struct Stack {
        std::vector<LocationId> locations; // leaf first
        Use use;
        bool free = false;
    };

    void touch(Use& use) const;
    bool held(const Use& use) const;
    ThreadId new_thread(Names&, const ThreadInfo&);
    void free_thread(ThreadId);
    void free_stack(StackId);
    template <typename Entry, typename Free>
    void look_for_free(const std::vector<Entry>& entries, size_t& hand, Free free) const;
    static uint64_t hash_of(std::span<const LocationId> stack);

    EventSink& sink_;
    RetentionOf retention_;
    uint64_t samples_ = 0, slow_calls_ = 0;
    bool in_slow_call_ = false;

    std::vector<Thread> threads_; // by id
    std::unordered_map<uint64_t, Names> names_;
    std::vector<ThreadId> free_threads_;
    size_t thread_hand_ = 0; // where to look next for ids that nobody holds

    std::unordered_map<Location, LocationId, LocationHash> locations_;
    std::vector<Location> location_list_;

    std::vector<Stack> stacks_;                            // by id
    size_t stack_bytes_ = 0;                               // of their locations
    std::unordered_multimap<uint64_t, StackId> stack_ids_; // by hash
    std::vector<StackId> free_stacks_;
    size_t stack_hand_ = 0;
};

} // namespace auger
