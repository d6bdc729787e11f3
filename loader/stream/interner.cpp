// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/stream/interner.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace auger {

namespace {

// Ids that are looked at for each new one. So as many as half of those that are held may be waiting
// to be found, and no single look takes long.
constexpr size_t looks = 3;
// What malloc adds to a block, about.
constexpr size_t heap_block = 16;

uint64_t mix(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
    return hash * 0xff51afd7ed558ccdULL;
}

uint64_t key_of(uint32_t pid, uint32_t tid) {
    return uint64_t{pid} << 32 | tid;
}

size_t hash_of_text(std::string_view text) {
    return std::hash<std::string_view>{}(text);
}

// A sink may be behind by some when it works on what it holds.
bool long_ago(uint64_t ago, uint64_t kept) {
    return ago > kept && ago - kept > kept / 4;
}

} // namespace

size_t Interner::LocationHash::operator()(const Location& location) const noexcept {
    return mix(mix(location.module.value, location.address), location.is_return);
}

void Interner::next_sample() {
    samples_++;
    in_slow_call_ = false;
}

void Interner::next_slow_call() {
    slow_calls_++;
    in_slow_call_ = true;
}

void Interner::touch(Use& use) const {
    use.sample = samples_;
    if (in_slow_call_)
        use.slow_call = slow_calls_;
}

bool Interner::held(const Use& use) const {
    const Retention kept = retention_();
    return !long_ago(samples_ - use.sample, kept.samples) ||
           (use.slow_call && !long_ago(slow_calls_ - use.slow_call, kept.slow_calls));
}

template <typename Entry, typename Free>
void Interner::look_for_free(const std::vector<Entry>& entries, size_t& hand, Free free) const {
    for (size_t i = 0; i < std::min(looks, entries.size()); i++) {
        hand = (hand + 1) % entries.size();
        if (!entries[hand].free && !held(entries[hand].use))
            free(static_cast<uint32_t>(hand));
    }
}

void Interner::free_thread(ThreadId id) {
    Thread& thread = threads_[id.index()];
    auto names = names_.find(thread.key);
    std::erase(names->second.all, id); // `last` was asked for last, so it goes when all do
    if (names->second.all.empty())
        names_.erase(names);
    thread = {};
    thread.free = true;
    free_threads_.push_back(id);
}

ThreadId Interner::thread(uint32_t pid, uint32_t tid, std::string_view comm,
                          std::string_view cgroup, const ContainerNames& container, bool kernel) {
    Names& known = names_[key_of(pid, tid)];
    const auto has_name = [&, group = hash_of_text(cgroup)](ThreadId id) {
        const Thread& thread = threads_[id.index()];
        return thread.comm == comm && thread.cgroup == group &&
               thread.container_known == container.known();
    };
    if (known.all.empty() || !has_name(known.last)) {
        const auto named = std::ranges::find_if(known.all, has_name);
        if (named == known.all.end())
            return new_thread(known, {pid, tid, std::string(comm), std::string(cgroup), MachineId{},
                                      container, kernel});
        known.last = *named;
    }
    touch(threads_[known.last.index()].use);
    return known.last;
}

ThreadId Interner::new_thread(Names& known, const ThreadInfo& info) {
    ThreadId id{static_cast<uint32_t>(threads_.size())};
    if (free_threads_.empty()) {
        threads_.emplace_back();
    } else {
        id = free_threads_.back();
        free_threads_.pop_back();
    }
    Thread& made = threads_[id.index()];
    made = {key_of(info.pid, info.tid), info.comm, hash_of_text(info.cgroup),
            info.container.known(),     {},        false};
    touch(made.use);
    known.all.push_back(id);
    known.last = id;
    sink_.on_thread(id, info);
    look_for_free(threads_, thread_hand_, [this](uint32_t gone) { free_thread({gone}); });
    return id;
}

std::optional<ThreadId> Interner::last_thread(uint32_t pid, uint32_t tid) {
    auto known = names_.find(key_of(pid, tid));
    if (known == names_.end())
        return std::nullopt;
    touch(threads_[known->second.last.index()].use);
    return known->second.last;
}

LocationId Interner::location(const Location& location) {
    auto [entry, is_new] =
        locations_.try_emplace(location, LocationId{static_cast<uint32_t>(locations_.size())});
    if (is_new) {
        location_list_.push_back(location);
        sink_.on_location(entry->second, location);
    }
    return entry->second;
}

uint64_t Interner::hash_of(std::span<const LocationId> stack) {
    uint64_t hash = stack.size();
    for (LocationId location : stack)
        hash = mix(hash, location.value);
    return hash;
}

void Interner::free_stack(StackId id) {
    Stack& stack = stacks_[id.index()];
    auto [first, last] = stack_ids_.equal_range(hash_of(stack.locations));
    stack_ids_.erase(std::find_if(first, last, [&](const auto& e) { return e.second == id; }));
    stack_bytes_ -= stack.locations.capacity() * sizeof(LocationId) + heap_block;
    stack = {};
    stack.free = true;
    free_stacks_.push_back(id);
}

StackId Interner::stack(std::span<const LocationId> leaf_first) {
    const uint64_t hash = hash_of(leaf_first);
    auto [first, last] = stack_ids_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry) {
        Stack& known = stacks_[entry->second.index()];
        if (std::ranges::equal(known.locations, leaf_first)) {
            touch(known.use);
            return entry->second;
        }
    }
    StackId id{static_cast<uint32_t>(stacks_.size())};
    if (free_stacks_.empty()) {
        stacks_.emplace_back();
    } else {
        id = free_stacks_.back();
        free_stacks_.pop_back();
    }
    Stack& made = stacks_[id.index()];
    made.locations.assign(leaf_first.begin(), leaf_first.end());
    stack_bytes_ += made.locations.capacity() * sizeof(LocationId) + heap_block;
    made.free = false;
    touch(made.use);
    stack_ids_.emplace(hash, id);
    sink_.on_stack(id, leaf_first);
    look_for_free(stacks_, stack_hand_, [this](uint32_t gone) { free_stack({gone}); });
    return id;
}

// Asked for at every frame of the live view, so stacks are counted as they come and go.
size_t Interner::memory_bytes() const {
    constexpr size_t node = 2 * sizeof(void*) + heap_block; // of a hash table, beside its entry
    return stack_bytes_ + threads_.capacity() * sizeof(Thread) +
           stacks_.capacity() * sizeof(Stack) + location_list_.capacity() * sizeof(Location) +
           names_.size() * (sizeof(*names_.begin()) + node + sizeof(ThreadId) + heap_block) +
           locations_.size() * (sizeof(*locations_.begin()) + node) +
           stack_ids_.size() * (sizeof(*stack_ids_.begin()) + node) +
           (names_.bucket_count() + locations_.bucket_count() + stack_ids_.bucket_count()) *
               sizeof(void*) +
           free_threads_.capacity() * sizeof(ThreadId) + free_stacks_.capacity() * sizeof(StackId);
}

} // namespace auger
