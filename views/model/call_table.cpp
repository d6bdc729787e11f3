// SPDX-License-Identifier: GPL-3.0-or-later
// Open addressing with backward-shift deletion: no tombstones, so a table that lives for days stays
// as fast as a new one.
#include "views/model/call_table.h"

namespace auger {

namespace {

uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    return x ^ x >> 32;
}

// A goroutine's call and a span are begun, sampled and ended by any thread.
uint32_t owner_of(uint32_t tid, const CallKey& key) {
    return key.of_no_thread() ? 0 : tid;
}

uint64_t hash_of(uint32_t tid, uint64_t start_ns, uint32_t sequence) {
    return mix(start_ns ^ mix(uint64_t{tid} << 32 | sequence));
}

} // namespace

bool CallTable::is_of(const CallRecord& record, uint32_t thread, const CallKey& key) {
    return record.start_ns == key.start_ns && record.sequence == key.sequence &&
           record.tid == owner_of(thread, key) && record.spec == key.spec;
}

template <typename Wanted>
CallIndex CallTable::find(uint32_t thread, const CallKey& key, const Wanted& wanted) const {
    if (slots_.empty())
        return no_call;
    size_t mask = slots_.size() - 1;
    for (size_t i = hash_of(owner_of(thread, key), key.start_ns, key.sequence) & mask;
         slots_[i] != no_call; i = (i + 1) & mask)
        if (is_of(records_[slots_[i].index()], thread, key) && wanted(slots_[i]))
            return slots_[i];
    return no_call;
}

bool CallTable::lies_in(CallIndex call, uint32_t thread, std::span<const CallKey> around) const {
    CallIndex at = records_[call.index()].parent;
    for (auto key = around.rbegin(); key != around.rend(); ++key) {
        if (at == no_call || !is_of(records_[at.index()], thread, *key))
            return false;
        at = records_[at.index()].parent;
    }
    return at == no_call;
}

CallIndex CallTable::acquire(uint32_t tid, std::span<const CallKey> calls) {
    if (calls.empty())
        return no_call;
    // Mostly the innermost call is known already, and its parents with it. A call has other ones
    // when its thread has gone on to another span meanwhile.
    CallIndex found = find(tid, calls.back(), [&](CallIndex call) {
        return lies_in(call, tid, calls.first(calls.size() - 1));
    });
    if (found != no_call) {
        records_[found.index()].references++;
        return found;
    }
    CallIndex parent = no_call;
    for (const CallKey& key : calls) {
        CallIndex index =
            find(tid, key, [&](CallIndex call) { return records_[call.index()].parent == parent; });
        if (index == no_call) {
            if (free_.empty()) {
                index = CallIndex{static_cast<uint32_t>(records_.size())};
                records_.emplace_back();
            } else {
                index = free_.back();
                free_.pop_back();
            }
            CallRecord& record = records_[index.index()];
            record = {};
            record.start_ns = key.start_ns;
            record.parent = parent;
            record.tid = owner_of(tid, key);
            record.sequence = key.sequence;
            record.spec = key.spec;
            if (parent != no_call)
                records_[parent.index()].references++;
            live_++;
            insert_slot(index);
        }
        parent = index;
    }
    records_[parent.index()].references++;
    return parent;
}

void CallTable::release(CallIndex index) {
    while (index != no_call) {
        CallRecord& record = records_[index.index()];
        if (--record.references)
            return;
        CallIndex parent = record.parent;
        erase_slot(index);
        free_.push_back(index);
        live_--;
        index = parent;
    }
}

bool CallTable::end(uint32_t tid, const CallEndEvent& event) {
    bool any = false;
    find(tid, event.call, [&](CallIndex index) {
        end(records_[index.index()], event);
        any = true;
        return false;
    });
    return any;
}

void CallTable::end(CallRecord& record, const CallEndEvent& event) {
    record.duration_ns = event.duration_ns;
    record.marks = event.marks;
    record.marks_known = event.marks_known;
    record.label = event.label.value_or(no_label);
    record.state = event.filtered  ? CallRecord::State::filtered
                   : event.unwound ? CallRecord::State::unwound
                                   : CallRecord::State::returned;
}

size_t CallTable::home(CallIndex index) const {
    const CallRecord& record = records_[index.index()];
    return hash_of(record.tid, record.start_ns, record.sequence) & (slots_.size() - 1);
}

void CallTable::place(CallIndex index) {
    size_t i = home(index);
    while (slots_[i] != no_call)
        i = (i + 1) & (slots_.size() - 1);
    slots_[i] = index;
}

void CallTable::insert_slot(CallIndex index) {
    if (live_ * 4 > slots_.size() * 3) { // keeps a quarter free, so that probes stay short
        std::vector<CallIndex> old(slots_.empty() ? 1024 : slots_.size() * 2, no_call);
        old.swap(slots_);
        for (CallIndex known : old)
            if (known != no_call)
                place(known);
    }
    place(index);
}

void CallTable::erase_slot(CallIndex index) {
    size_t mask = slots_.size() - 1;
    size_t hole = home(index);
    while (slots_[hole] != index)
        hole = (hole + 1) & mask;
    // Whatever follows without a gap moves up, unless that would put it before its home.
    for (size_t i = (hole + 1) & mask; slots_[i] != no_call; i = (i + 1) & mask) {
        if (((i - home(slots_[i])) & mask) >= ((i - hole) & mask)) {
            slots_[hole] = slots_[i];
            hole = i;
        }
    }
    slots_[hole] = no_call;
}

size_t CallTable::memory_bytes() const {
    return records_.capacity() * sizeof(CallRecord) + free_.capacity() * sizeof(CallIndex) +
           slots_.capacity() * sizeof(CallIndex);
}

} // namespace auger
