// SPDX-License-Identifier: GPL-3.0-or-later
// SpecTable: the kernel's array of specs and their statistics. A spec has a slot in the kernel,
// which is used again after the spec is gone, and an id in the event stream, which never is; the
// generation of a slot tells late events of its former owner from those of the present one.
#pragma once

#include "bpf/wire.h"
#include "loader/base/fd.h"
#include "loader/base/ids.h"
#include "loader/base/result.h"
#include "loader/kernel/mapped_array.h"
#include "loader/kernel/programs.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace auger {

struct SpecSettings {
    std::optional<uint64_t> slow_ns; // trace calls longer than this
    bool tails = false;              // see WIRE_SPEC_TAILS
    bool tail_ends = false;          // see WIRE_SPEC_TAIL_ENDS
    bool second = false;             // see WIRE_SPEC_SECOND
    bool return_probes = false;      // see WIRE_SPEC_RETURN_PROBES
    uint32_t program = 0;            // its call program; see wire_spec
    uint32_t terms = 0;              // of gates; see wire_spec
    uint32_t part = 0;               // of explained calls; see wire_spec
    wire_span_point point = {};      // its calls are points of a span
    bool is_go = false;              // its calls are goroutines'
    bool is_span = false;            // it is a span's own ...
    uint64_t limit_ns = 0;           // ... which is open for no longer; see wire_spec
};

class SpecTable {
  public:
    explicit SpecTable(Programs& programs);

    // Makes room for `count` more specs at once. Worth it before adding many: to enter a block of
    // histograms takes some 15 ms of waiting for running programs, whatever their number.
    Result<void> reserve(size_t count);
    // A new, enabled spec with statistics at zero. Fails when WIRE_MAX_SPECS are in use, or the
    // kernel has no memory for their statistics.
    Result<SpecId> add(const SpecSettings& settings);
    // Takes effect at the next call; nothing else changes.
    Result<void> set(SpecId spec, const SpecSettings& settings);
    const SpecSettings& settings(SpecId spec) const; // in force
    // Probes of it that still fire do nothing from now on. Its statistics can still be read.
    void disable(SpecId spec);
    // Likewise, and they cannot.
    void remove(SpecId spec);
    // Likewise of the one that was added last and that nobody has been told of: its id is free.
    void retract(SpecId spec);
    // How often its probes were hit since it was added, and how long it took to tell of its calls.
    struct Hits {
        uint64_t entries = 0;
        uint64_t exits = 0;
        uint64_t stepped_exits = 0; // of them
        uint64_t tracing_ns = 0;
    };
    Hits hits(SpecId spec) const;
    // Calls that were open when it was last read.
    int64_t open(SpecId spec) const { return slots_[slot_of_.at(spec)].last.open; }

    // Counts returned calls that began at `since_ns` or later by whether they have this mark, from
    // zero; set() keeps it so. Until forgotten. Fails without a change.
    Result<void> count_mark(SpecId spec, uint32_t bit, uint64_t since_ns);
    void forget_mark(SpecId spec, uint32_t bit);

    // What probes of the spec must carry; see wire_cookie.
    uint64_t cookie(SpecId spec) const;
    // The spec that an event means; nothing when it is gone.
    std::optional<SpecId> find(uint16_t slot, uint16_t generation) const;
    // What happened since the last call; nothing when nothing did.
    std::optional<StatsEvent> read(SpecId spec, uint64_t now_ns);
    std::vector<SpecId> specs() const;

  private:
    struct Slot {
        uint16_t generation = 0;
        std::optional<SpecId> owner;
        // Totals at the last read. Bucket counts wrap at 2^32, like the kernel's.
        StatsEvent last;
        std::vector<uint32_t> last_buckets;
        SpecSettings settings;
        SpanCounts former_span;                          // what the slot's former spans counted
        std::map<uint32_t, StatsEvent::MarkCount> marks; // counted ones by bit, at the last read
    };
    // Histograms, [spec in block][cpu].
    struct Block {
        UniqueFd map;
        MappedArray<wire_call_histogram> histograms;
    };

    Result<Block> make_block() const;
    Result<void> write(uint16_t slot, const SpecSettings& settings, bool enabled);
    wire_call_histogram* histograms_of(uint16_t slot) const; // [cpu]
    // A span's counts are read where `settings` say that it is one.
    StatsEvent totals(uint16_t slot) const;
    uint64_t mark_key(uint16_t slot, uint32_t bit) const;
    // What was counted of each mark since the last call.
    std::vector<StatsEvent::MarkCount> read_marks(uint16_t slot);

    Programs& programs_;
    std::vector<Slot> slots_;
    std::vector<Block> blocks_;
    std::map<SpecId, uint16_t> slot_of_;
    uint32_t next_id_ = 0;
    uint16_t next_slot_ = 0; // where the search for a free slot begins: recent ones rest longest
};

} // namespace auger
