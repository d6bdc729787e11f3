// SPDX-License-Identifier: GPL-3.0-or-later
// Open addressing with backward-shift deletion: no tombstones, so a table that lives for days stays
// as fast as a new one.
#include "views/model/call_table.h"

#include <utility>

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

uint64_t CallTable::hash_of_call(CallIndex index) const {
    const CallRecord& record = records_[index.index()];
    return hash_of(record.tid, record.start_ns, record.sequence);
}

uint64_t CallTable::hash_of_record(CallIndex index) const {
    return mix(hash_of_call(index) ^ records_[index.index()].parent.value);
}

template <typename Wanted>
CallIndex CallTable::find(const Slots& slots, uint64_t hash, const Wanted& wanted) {
    if (slots.empty())
        return no_call;
    const size_t mask = slots.size() - 1;
    for (size_t i = hash & mask; slots[i] != no_call; i = (i + 1) & mask)
        if (wanted(slots[i]))
            return slots[i];
    return no_call;
}

CallIndex CallTable::find_first(uint32_t tid, const CallKey& key) const {
    return find(firsts_, hash_of(owner_of(tid, key), key.start_ns, key.sequence),
                [&](CallIndex call) { return is_of(records_[call.index()], tid, key); });
}

CallIndex CallTable::acquire(uint32_t tid, std::span<const CallKey> calls) {
    CallIndex innermost = no_call;
    for (const CallKey& key : calls) {
        const uint64_t hash =
            mix(hash_of(owner_of(tid, key), key.start_ns, key.sequence) ^ innermost.value);
        const CallIndex found = find(slots_, hash, [&](CallIndex call) {
            const CallRecord& record = records_[call.index()];
            return record.parent == innermost && is_of(record, tid, key);
        });
        innermost = found != no_call ? found : make(tid, key, innermost);
    }
    if (innermost != no_call)
        records_[innermost.index()].references++;
    return innermost;
}

CallIndex CallTable::make(uint32_t tid, const CallKey& key, CallIndex parent) {
    CallIndex index{static_cast<uint32_t>(records_.size())};
    if (free_.empty()) {
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
    end_if_known(record, key);
    if (parent != no_call)
        records_[parent.index()].references++;
    const CallIndex first = find_first(tid, key);
    if (first == no_call) {
        insert(firsts_, calls_++, index, &CallTable::hash_of_call);
    } else { // behind the first one, which keeps its slot
        CallRecord& known = records_[first.index()];
        record.previous = first;
        record.next = std::exchange(known.next, index);
        if (record.next != no_call)
            records_[record.next.index()].previous = index;
    }
    insert(slots_, live_++, index, &CallTable::hash_of_record);
    return index;
}

// Of those of its call.
void CallTable::unlink(CallIndex index) {
    const CallRecord& record = records_[index.index()];
    if (record.next != no_call)
        records_[record.next.index()].previous = record.previous;
    if (record.previous != no_call) {
        records_[record.previous.index()].next = record.next;
        return;
    }
    erase(firsts_, index, &CallTable::hash_of_call);
    calls_--;
    if (record.next != no_call)
        insert(firsts_, calls_++, record.next, &CallTable::hash_of_call);
}

void CallTable::release(CallIndex index) {
    while (index != no_call) {
        CallRecord& record = records_[index.index()];
        if (--record.references)
            return;
        CallIndex parent = record.parent;
        erase(slots_, index, &CallTable::hash_of_record);
        unlink(index);
        free_.push_back(index);
        live_--;
        index = parent;
    }
}

bool CallTable::end(uint32_t tid, const CallEndEvent& event) {
    const EndedCalls::End ended(event);
    const CallIndex first = find_first(tid, event.call);
    for (CallIndex at = first; at != no_call; at = records_[at.index()].next)
        end(records_[at.index()], ended);
    if (event.call.of_no_thread())
        ended_.add(event);
    return first != no_call;
}

void CallTable::end(CallRecord& record, const EndedCalls::End& ended) {
    record.duration_ns = ended.duration_ns;
    record.marks = ended.marks;
    record.marks_known = ended.marks_known;
    record.label = ended.label.value_or(no_label);
    record.state = ended.filtered  ? CallRecord::State::filtered
                   : ended.unwound ? CallRecord::State::unwound
                                   : CallRecord::State::returned;
}

void CallTable::end_if_known(CallRecord& record, const CallKey& call) const {
    if (!call.of_no_thread())
        return;
    if (const EndedCalls::End* const ended = ended_.find(call))
        end(record, *ended);
    else
        record.may_have_ended = ended_.may_have_forgotten(call.start_ns);
}

void CallTable::place(Slots& slots, CallIndex index, HashOf hash_of) const {
    size_t i = (this->*hash_of)(index) & (slots.size() - 1);
    while (slots[i] != no_call)
        i = (i + 1) & (slots.size() - 1);
    slots[i] = index;
}

void CallTable::insert(Slots& slots, size_t held, CallIndex index, HashOf hash_of) const {
    if ((held + 1) * 4 > slots.size() * 3) { // keeps a quarter free, so that probes stay short
        Slots old(slots.empty() ? 1024 : slots.size() * 2, no_call);
        old.swap(slots);
        for (CallIndex known : old)
            if (known != no_call)
                place(slots, known, hash_of);
    }
    place(slots, index, hash_of);
}

void CallTable::erase(Slots& slots, CallIndex index, HashOf hash_of) const {
    const size_t mask = slots.size() - 1;
    const auto home = [&](CallIndex call) { return (this->*hash_of)(call)&mask; };
    size_t hole = home(index);
    while (slots[hole] != index)
        hole = (hole + 1) & mask;
    // Whatever follows without a gap moves up, unless that would put it before its home.
    for (size_t i = (hole + 1) & mask; slots[i] != no_call; i = (i + 1) & mask) {
        if (((i - home(slots[i])) & mask) >= ((i - hole) & mask)) {
            slots[hole] = slots[i];
            hole = i;
        }
    }
    slots[hole] = no_call;
}

size_t CallTable::memory_bytes() const {
    return records_.capacity() * sizeof(CallRecord) + free_.capacity() * sizeof(CallIndex) +
           (slots_.capacity() + firsts_.capacity()) * sizeof(CallIndex) + ended_.memory_bytes();
}

} // namespace auger
