// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/spec_table.h"

#include "bpf/tail_calls.h"
#include "loader/kernel/bpf_calls.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

uint64_t load(const __wire_u64& value) {
    return __atomic_load_n(&value, __ATOMIC_RELAXED);
}

} // namespace

SpecTable::SpecTable(Programs& programs)
    : programs_(programs), slots_(WIRE_MAX_SPECS), blocks_(WIRE_MAX_SPECS / WIRE_SPECS_PER_BLOCK) {}

Result<SpecTable::Block> SpecTable::make_block() const {
    uint32_t entries = WIRE_SPECS_PER_BLOCK * programs_.cpu_ids();
    Block block;
    auto map = create_array("call_histograms", sizeof(wire_call_histogram), entries,
                            BPF_F_MMAPABLE | BPF_F_INNER_MAP);
    if (!map)
        return map.error();
    block.map = std::move(*map);
    auto histograms =
        MappedArray<wire_call_histogram>::make(block.map.get(), entries, "call_histograms");
    if (!histograms)
        return histograms.error();
    block.histograms = std::move(*histograms);
    return block;
}

Result<void> SpecTable::reserve(size_t count) {
    std::vector<uint32_t> indices;
    std::vector<int> maps;
    std::vector<Block> made;
    // As add() will search for them.
    for (size_t tried = 0, found = 0; tried < slots_.size() && found < count; tried++) {
        size_t slot = (next_slot_ + tried) % slots_.size();
        if (slots_[slot].owner)
            continue;
        found++;
        auto index = static_cast<uint32_t>(slot / WIRE_SPECS_PER_BLOCK);
        if (blocks_[index].histograms || (!indices.empty() && indices.back() == index))
            continue;
        auto block = make_block();
        if (!block)
            return block.error();
        indices.push_back(index);
        maps.push_back(block->map.get());
        made.push_back(std::move(*block));
    }
    if (made.empty())
        return {};
    if (auto entered = enter_maps(programs_.map_fd(MapKind::histogram_blocks), indices, maps,
                                  "call_histograms");
        !entered)
        return entered;
    for (size_t i = 0; i < made.size(); i++)
        blocks_[indices[i]] = std::move(made[i]);
    return {};
}

wire_call_histogram* SpecTable::histograms_of(uint16_t slot) const {
    return blocks_[slot / WIRE_SPECS_PER_BLOCK].histograms.at((slot % WIRE_SPECS_PER_BLOCK) *
                                                              size_t{programs_.cpu_ids()});
}

Result<SpecId> SpecTable::add(const SpecSettings& settings) {
    size_t tried = 0;
    while (slots_[next_slot_].owner && tried < slots_.size()) {
        next_slot_ = static_cast<uint16_t>((next_slot_ + 1) % slots_.size());
        tried++;
    }
    uint16_t index = next_slot_;
    Slot& slot = slots_[index];
    if (slot.owner)
        return Error{"time functions", fmt::format("more than {}", WIRE_MAX_SPECS),
                     "all places are taken", "delete probes that are no longer needed"};
    if (auto made = reserve(1); !made)
        return made.error();

    // Nothing writes here now: the former owner's probes carry another generation.
    std::fill_n(programs_.call_counters(index), programs_.cpu_ids(), wire_call_counters{});
    std::fill_n(histograms_of(index), programs_.cpu_ids(), wire_call_histogram{});
    slot.generation = static_cast<uint16_t>(slot.generation + 1);
    if (slot.generation == 0)
        slot.generation = 1;
    slot.last = {};
    slot.marks.clear();
    slot.last_buckets.assign(WIRE_HIST_BUCKETS, 0);
    if (settings.is_span)
        slot.former_span = programs_.span_counts(index);
    if (auto written = write(index, settings, true); !written)
        return written.error();
    SpecId id{next_id_++};
    slot.owner = id;
    slot_of_[id] = index;
    next_slot_ = static_cast<uint16_t>((next_slot_ + 1) % slots_.size());
    return id;
}

Result<void> SpecTable::write(uint16_t index, const SpecSettings& settings, bool enabled) {
    wire_spec spec = {};
    // The words of a spec are not written in one moment: a call that finds the flag of a threshold
    // which has just gone must not be slow.
    spec.slow_ns = settings.slow_ns.value_or(UINT64_MAX);
    spec.generation = slots_[index].generation;
    spec.flags = (enabled ? WIRE_SPEC_ENABLED : 0) | (settings.slow_ns ? WIRE_SPEC_TRACE_SLOW : 0) |
                 (settings.tails ? WIRE_SPEC_TAILS : 0) | (settings.second ? WIRE_SPEC_SECOND : 0) |
                 (settings.tail_ends ? WIRE_SPEC_TAIL_ENDS : 0) |
                 (settings.return_probes ? WIRE_SPEC_RETURN_PROBES : 0);
    spec.terms = settings.terms;
    spec.program = settings.program;
    spec.part = settings.part;
    spec.point = settings.point;
    spec.limit_ns = settings.limit_ns;
    for (const auto& [bit, count] : slots_[index].marks)
        spec.counted_marks |= 1u << bit;
    uint32_t key = index;
    if (update_element(programs_.map_fd(MapKind::specs), &key, &spec) < 0)
        return system_error("write spec", std::to_string(index));
    slots_[index].settings = settings;
    return {};
}

Result<void> SpecTable::set(SpecId spec, const SpecSettings& settings) {
    return write(slot_of_.at(spec), settings, true);
}

const SpecSettings& SpecTable::settings(SpecId spec) const {
    return slots_[slot_of_.at(spec)].settings;
}

void SpecTable::disable(SpecId spec) {
    const uint16_t index = slot_of_.at(spec);
    (void)write(index, slots_[index].settings, false);
}

SpecTable::Hits SpecTable::hits(SpecId spec) const {
    const wire_call_counters* counters = programs_.call_counters(slot_of_.at(spec));
    Hits sum;
    for (uint32_t cpu = 0; cpu < programs_.cpu_ids(); cpu++) {
        sum.entries += load(counters[cpu].entry_hits);
        // Counted after the other: never more than those.
        sum.stepped_exits += load(counters[cpu].stepped_exit_hits);
        sum.exits += load(counters[cpu].exit_hits);
        sum.tracing_ns += load(counters[cpu].tracing_ns);
    }
    return sum;
}

void SpecTable::retract(SpecId spec) {
    remove(spec);
    if (spec.value + 1 == next_id_)
        next_id_--;
}

void SpecTable::remove(SpecId spec) {
    auto found = slot_of_.find(spec);
    if (found == slot_of_.end())
        return;
    while (!slots_[found->second].marks.empty())
        forget_mark(spec, slots_[found->second].marks.begin()->first);
    // Failing to switch it off here would only leave probes counting that are about to go.
    (void)write(found->second, {}, false);
    slots_[found->second].owner.reset();
    slot_of_.erase(found);
}

// As the tracker makes it (bpf/call_tracker.bpf.c).
uint64_t SpecTable::mark_key(uint16_t slot, uint32_t bit) const {
    return uint64_t{slots_[slot].generation} << WIRE_COOKIE_GENERATION_SHIFT | uint64_t{bit} << 16 |
           slot;
}

Result<void> SpecTable::count_mark(SpecId spec, uint32_t bit, uint64_t since_ns) {
    uint16_t index = slot_of_.at(spec);
    std::vector<wire_mark_count> counts(programs_.possible_cpus(), {since_ns, 0, 0});
    uint64_t key = mark_key(index, bit);
    if (update_element(programs_.map_fd(MapKind::mark_counts), &key, counts.data()) < 0)
        return system_error("count marks", "");
    slots_[index].marks[bit] = {bit, 0, 0};
    auto written = write(index, slots_[index].settings, true);
    if (!written)
        forget_mark(spec, bit);
    return written;
}

void SpecTable::forget_mark(SpecId spec, uint32_t bit) {
    auto found = slot_of_.find(spec);
    if (found == slot_of_.end() || !slots_[found->second].marks.erase(bit))
        return;
    (void)write(found->second, slots_[found->second].settings, true);
    uint64_t key = mark_key(found->second, bit);
    bpf_map_delete_elem(programs_.map_fd(MapKind::mark_counts), &key);
}

std::vector<StatsEvent::MarkCount> SpecTable::read_marks(uint16_t index) {
    std::vector<StatsEvent::MarkCount> changes;
    std::vector<wire_mark_count> counts(programs_.possible_cpus());
    for (auto& [bit, last] : slots_[index].marks) {
        uint64_t key = mark_key(index, bit);
        if (bpf_map_lookup_elem(programs_.map_fd(MapKind::mark_counts), &key, counts.data()) < 0)
            continue;
        StatsEvent::MarkCount now{bit, 0, 0};
        for (const wire_mark_count& count : counts) {
            now.taken += count.taken;
            now.not_taken += count.not_taken;
        }
        if (now.taken != last.taken || now.not_taken != last.not_taken)
            changes.push_back({bit, now.taken - last.taken, now.not_taken - last.not_taken});
        last = now;
    }
    return changes;
}

uint64_t SpecTable::cookie(SpecId spec) const {
    uint16_t slot = slot_of_.at(spec);
    return slot | uint64_t{slots_[slot].generation} << WIRE_COOKIE_GENERATION_SHIFT;
}

std::optional<SpecId> SpecTable::find(uint16_t slot, uint16_t generation) const {
    if (slot >= slots_.size() || slots_[slot].generation != generation)
        return {};
    return slots_[slot].owner;
}

StatsEvent SpecTable::totals(uint16_t slot) const {
    StatsEvent sum;
    for (uint32_t cpu = 0; cpu < programs_.cpu_ids(); cpu++) {
        const wire_call_counters& counters = programs_.call_counters(slot)[cpu];
        sum.entries += load(counters.entries);
        sum.returns += load(counters.returns);
        sum.unwound += load(counters.unwound);
        sum.dropped += load(counters.dropped);
        sum.filtered += load(counters.filtered);
        sum.open += __atomic_load_n(&counters.open, __ATOMIC_RELAXED);
        sum.sum_ns += load(counters.sum_ns);
        sum.nested_ns += load(counters.nested_ns);
        uint64_t min = load(counters.min_ns);
        if (min && (!sum.min_ns || min < sum.min_ns))
            sum.min_ns = min;
        sum.max_ns = std::max<uint64_t>(sum.max_ns, load(counters.max_ns));
    }
    if (slots_[slot].settings.is_span)
        sum.span = programs_.span_counts(slot) - slots_[slot].former_span;
    if (slots_[slot].settings.is_go)
        sum.span = programs_.go_counts(slot);
    return sum;
}

std::optional<StatsEvent> SpecTable::read(SpecId spec, uint64_t now_ns) {
    uint16_t index = slot_of_.at(spec);
    Slot& slot = slots_[index];
    StatsEvent now = totals(index);
    // The counters are not read in one moment. While calls run, try to catch one in which they
    // agree; a function that never pauses may show a call or two between its counters.
    for (int tries = 0; tries < 8; tries++) {
        if (now.entries == now.returns + now.unwound + now.dropped + now.filtered +
                               now.span.expired + static_cast<uint64_t>(now.open))
            break;
        now = totals(index);
    }
    const StatsEvent& last = slot.last;
    if (now.entries == last.entries && now.returns == last.returns && now.unwound == last.unwound &&
        now.dropped == last.dropped && now.open == last.open && now.filtered == last.filtered &&
        now.span == last.span)
        return {};

    StatsEvent event;
    event.time_ns = now_ns;
    event.spec = spec;
    event.entries = now.entries - last.entries;
    event.returns = now.returns - last.returns;
    event.unwound = now.unwound - last.unwound;
    event.dropped = now.dropped - last.dropped;
    event.filtered = now.filtered - last.filtered;
    event.open = now.open - last.open;
    event.sum_ns = now.sum_ns - last.sum_ns;
    event.nested_ns = now.nested_ns - last.nested_ns;
    event.min_ns = now.min_ns;
    event.max_ns = now.max_ns;
    event.span = now.span - last.span;
    for (uint32_t bucket = 0; bucket < WIRE_HIST_BUCKETS; bucket++) {
        uint32_t count = 0;
        for (uint32_t cpu = 0; cpu < programs_.cpu_ids(); cpu++)
            count += __atomic_load_n(&histograms_of(index)[cpu].buckets[bucket], __ATOMIC_RELAXED);
        if (count != slot.last_buckets[bucket]) {
            event.buckets.push_back({bucket, count - slot.last_buckets[bucket]});
            slot.last_buckets[bucket] = count;
        }
    }
    event.marked = read_marks(index);
    slot.last = now;
    return event;
}

std::vector<SpecId> SpecTable::specs() const {
    std::vector<SpecId> ids;
    for (const auto& [id, slot] : slot_of_)
        ids.push_back(id);
    return ids;
}

} // namespace auger
