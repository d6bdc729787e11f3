// SPDX-License-Identifier: GPL-3.0-or-later
// WalkedProcess: what the programs' walk looks up of a process, in memory of a test
// (bpf/unwind_table.h).
#pragma once

#include "bpf/unwind_table.h"
#include "loader/arch/arch.h"
#include "loader/unwind/unwind_table.h"
#include "loader/walk/thread_walk.h"

#include ARCH(dwarf_register.h)

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

namespace auger::test {

class WalkedProcess {
  public:
    static constexpr uint32_t pid = 1;
    static constexpr uint8_t first_argument = 5; // rdi

    wire_unwind_process process = {};
    std::vector<wire_unwind_table> tables = {{}}; // by number, the first of which is of none
    const wire_hotspot* hotspot = nullptr;        // where it runs one

    // Returns the table's number.
    uint32_t add(const UnwindTable& table) {
        wire_unwind_table entry = {};
        entry.state = WIRE_UNWIND_READY;
        entry.pages = static_cast<uint32_t>(table.pages.size() - 1);
        entry.rows = static_cast<uint32_t>(table.rows.size());
        entry.rules = static_cast<uint32_t>(table.rules.size());
        entry.page_cell = put(std::as_bytes(std::span(table.pages)));
        entry.row_cell = put(std::as_bytes(std::span(table.rows)));
        entry.rule_cell = put(std::as_bytes(std::span(table.rules)));
        tables.push_back(entry);
        return static_cast<uint32_t>(tables.size() - 1);
    }
    // All of its mappings, by address.
    void map(const std::vector<wire_unwind_mapping>& mappings) {
        process.cell = put(std::as_bytes(std::span(mappings)));
        process.mappings = static_cast<uint32_t>(mappings.size());
    }

    using Read = std::function<bool(uint64_t address, void* bytes, size_t size)>;
    struct Leaf {
        uint64_t ip, sp, bp = 0, bx = 0, di = 0, r13 = 0;
    };
    // `replaced`: the innermost first.
    std::vector<uint64_t> walk(const Leaf& leaf, Read read,
                               const std::vector<walked_return>& replaced = {}) {
        read_ = std::move(read);
        std::array<uint64_t, WIRE_USER_REGISTERS> registers{};
        registers[register_code] = leaf.ip;
        registers[register_stack] = leaf.sp;
        registers[register_frame] = leaf.bp;
        registers[register_kept] = leaf.bx;
        registers[first_argument] = leaf.di;
        registers[13] = leaf.r13;
        const walked_thread thread = {
            pid, pid, registers.data(), false, 0, replaced.data(), replaced.size()};
        const walk_source source = {
            this,
            [](void* owner, walk_map map, uint32_t key) {
                return static_cast<WalkedProcess*>(owner)->look_up(map, key);
            },
            [](void* owner, uint64_t address, void* bytes, size_t size) {
                return static_cast<WalkedProcess*>(owner)->read_(address, bytes, size);
            },
        };
        std::vector<uint64_t> words(WIRE_STACK_WORDS);
        words.resize(walk_thread(&thread, &source, words.data()));
        return words;
    }

  private:
    // Returns the first cell. Cells grow by whole shards.
    uint32_t put(std::span<const std::byte> bytes) {
        const size_t first = used_;
        used_ += (bytes.size() / sizeof(uint64_t) + WIRE_UNWIND_ALIGNMENT) / WIRE_UNWIND_ALIGNMENT *
                 WIRE_UNWIND_ALIGNMENT;
        const size_t shards = used_ / WIRE_UNWIND_SHARD_CELLS + 1;
        cells_.resize(shards * WIRE_UNWIND_SHARD_CELLS);
        if (!bytes.empty())
            std::memcpy(cells_.data() + first, bytes.data(), bytes.size());
        return static_cast<uint32_t>(first);
    }
    const void* look_up(walk_map map, uint32_t key) const {
        switch (map) {
        case WALK_PROCESSES:
            return key == pid ? &process : nullptr;
        case WALK_TABLES:
            return key < tables.size() ? &tables[key] : nullptr;
        case WALK_SHARDS:
            return key < cells_.size() / WIRE_UNWIND_SHARD_CELLS
                       ? cells_.data() + size_t{key} * WIRE_UNWIND_SHARD_CELLS
                       : nullptr;
        case WALK_HOTSPOT_PROCESSES:
            return key == 0 ? hotspot : nullptr;
        default:
            return nullptr;
        }
    }

    std::vector<uint64_t> cells_;
    size_t used_ = WIRE_UNWIND_ALIGNMENT; // cell 0 is nobody's
    Read read_;
};

} // namespace auger::test
