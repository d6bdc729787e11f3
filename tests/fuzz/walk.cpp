// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "bpf/unwind_table.h"
#include "loader/arch/arch.h"
#include "loader/walk/thread_walk.h"

#include ARCH(dwarf_register.h)

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>

namespace auger::test {
namespace {

constexpr uint32_t mapping_cell = 4, page_cell = 8, row_cell = 12, rule_cell = 16;

// Which runtime the process claims to have, and of what kind the mapping is that all code lies in.
struct Claim {
    uint8_t runtime;
    uint8_t mapping;
    uint8_t rule;
    uint8_t returns;
    // The lowest bits of the thread's registers.
    uint16_t ip, sp, bp, bx;
    uint32_t padding;
};

class HostileProcess {
  public:
    HostileProcess(const Claim& claim, std::span<const uint8_t> content)
        : claim_(claim), content_(content) {
        const wire_unwind_mapping mapping = {0, uint64_t{1} << 40, 0, 1,
                                             static_cast<uint32_t>(claim.mapping % 5)};
        put(mapping_cell, mapping);
        put(page_cell, std::array<uint32_t, 2>{0, 1});
        put(row_cell, std::array<uint32_t, 2>{1 << WIRE_UNWIND_PAGE_BITS, 0});
        wire_unwind_rule rule = {};
        copy(0, &rule, sizeof rule);
        rule.cfa = claim.rule;
        put(rule_cell + 2, rule);
        table_ = {WIRE_UNWIND_READY, 1u << 30, 1, 2, page_cell, row_cell, rule_cell, 0};
        process_.cell = mapping_cell;
        process_.mappings = 1;
        process_.python = claim.runtime == 1 ? 0x10000 : 0;
        process_.hotspot = claim.runtime == 2;
        process_.v8 = claim.runtime == 3;
        process_.php = claim.runtime == 4 ? 0x10000 : 0;
        process_.perl = claim.runtime == 5 ? 0x10000 : 0;
        if (claim.runtime == 6)
            copy(16, &process_.ruby, sizeof process_.ruby);
    }

    size_t walk(uint64_t* words) {
        std::array<walked_return, 4> returns{};
        copy(32, returns.data(), sizeof returns);
        std::array<uint64_t, WIRE_USER_REGISTERS> registers;
        copy(128, registers.data(), sizeof registers);
        registers[register_code] = claim_.ip;
        registers[register_stack] = 0x20000u + claim_.sp;
        registers[register_frame] = 0x20000u + claim_.bp;
        registers[register_kept] = 0x20000u + claim_.bx;
        const walked_thread thread = {1,
                                      1,
                                      registers.data(),
                                      false,
                                      0x30000,
                                      returns.data(),
                                      claim_.returns % (returns.size() + 1)};
        const walk_source source = {
            this,
            [](void* owner, walk_map map, uint32_t) {
                return static_cast<HostileProcess*>(owner)->look_up(map);
            },
            [](void* owner, uint64_t address, void* bytes, size_t size) {
                return static_cast<HostileProcess*>(owner)->read(address, bytes, size);
            },
        };
        return walk_thread(&thread, &source, words);
    }

  private:
    template <typename Value>
    void put(uint32_t cell, const Value& value) {
        std::memcpy(&cells_.at(cell), &value, sizeof value);
    }
    // Of the content, which is repeated.
    void copy(size_t from, void* to, size_t size) const {
        for (size_t i = 0; i < size; i++)
            static_cast<uint8_t*>(to)[i] = content_[(from + i) % content_.size()];
    }
    const void* look_up(walk_map map) {
        switch (map) {
        case WALK_PROCESSES:
            return &process_;
        case WALK_TABLES:
            return &table_;
        case WALK_SHARDS:
            return cells_.data();
        default:
            // Layouts come of files and processes: these are anything, too.
            copy(64, layout_.data(), layout_.size());
            return layout_.data();
        }
    }
    // The content is at each multiple of 64 KB below 2^40, with zeros behind it.
    bool read(uint64_t address, void* bytes, size_t size) const {
        if (address >> 40 || size > 4096)
            return false;
        std::memset(bytes, 0, size);
        const size_t offset = address & 0xffff;
        if (offset < content_.size())
            std::memcpy(bytes, content_.data() + offset, std::min(size, content_.size() - offset));
        return true;
    }

    const Claim claim_;
    const std::span<const uint8_t> content_;
    // More than any layout has, and as many cells as one shard.
    std::array<uint8_t, 4096> layout_{};
    static inline std::array<uint64_t, WIRE_UNWIND_SHARD_CELLS> cells_{};
    wire_unwind_process process_ = {};
    wire_unwind_table table_ = {};
};

} // namespace

// A claim, and the process's memory.
void fuzz_walk(const uint8_t* data, size_t size) {
    Claim claim;
    if (size <= sizeof claim)
        return;
    std::memcpy(&claim, data, sizeof claim);
    static std::array<uint64_t, WIRE_STACK_WORDS> words;
    if (HostileProcess(claim, {data + sizeof claim, size - sizeof claim}).walk(words.data()) >
        words.size())
        std::abort();
}

} // namespace auger::test
