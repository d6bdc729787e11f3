// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// From an address to its mapping and its rule, in the tables that user space writes. Of the walk
// alone.
#ifndef AUGER_UNWIND_LOOKUP_H
#define AUGER_UNWIND_LOOKUP_H

#include "unwind.h"

struct unwind_block {
    u64 cells[WIRE_UNWIND_BLOCK_CELLS];
};

/* Made by user space, each as it is needed, and written by it; read by walks. */
struct unwind_shard {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_UNWIND_SHARD_BLOCKS);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(key_size, sizeof(u32));
    __uint(value_size, sizeof(struct unwind_block));
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, WIRE_UNWIND_SHARDS);
    __type(key, u32);
    __array(values, struct unwind_shard);
} unwind_cells SEC(".maps");

/* By number. Written by user space, read by walks. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_UNWIND_TABLES);
    __uint(map_flags, BPF_F_MMAPABLE);
    __type(key, u32);
    __type(value, struct wire_unwind_table);
} unwind_tables SEC(".maps");

enum {
    LOG2_MAPPINGS = 17,
    CELLS_OF_MAPPING = sizeof(struct wire_unwind_mapping) / sizeof(u64),
    CELLS_OF_RULE = sizeof(struct wire_unwind_rule) / sizeof(u64),
    LOG2_ROWS_OF_PAGE = WIRE_UNWIND_PAGE_BITS + 1,
};

static __always_inline struct unwind_block* block_of(u32 cell) {
    u32 shard = cell >> WIRE_UNWIND_SHARD_BITS;
    u32 index = (cell & (WIRE_UNWIND_SHARD_CELLS - 1)) >> WIRE_UNWIND_BLOCK_BITS;
    void* blocks = bpf_map_lookup_elem(&unwind_cells, &shard);

    return blocks ? bpf_map_lookup_elem(blocks, &index) : NULL;
}

/* What was looked up last: a search most often stays in one block. */
struct block_cursor {
    struct unwind_block* block;
    u32 number;
};

static __always_inline u64* cell_at(struct block_cursor* cursor, u32 cell) {
    if (!cursor->block || cursor->number != cell >> WIRE_UNWIND_BLOCK_BITS) {
        cursor->number = cell >> WIRE_UNWIND_BLOCK_BITS;
        cursor->block = block_of(cell);
    }
    return cursor->block ? &cursor->block->cells[cell & (WIRE_UNWIND_BLOCK_CELLS - 1)] : NULL;
}

/* Word `index` of an array that begins at a cell; `missing` when there is none. */
static __always_inline u32 word_at(struct block_cursor* cursor, u32 first_cell, u32 index,
                                   u32 missing) {
    u64* cell = cell_at(cursor, first_cell + (index >> 1));

    return cell ? (u32)(*cell >> ((index & 1) * 32)) : missing;
}

// The bounds of a search stand in memory, of whose values the verifier knows nothing: what it
// learns of them by each comparison would make every turn of the loop a new one to it.
static __always_inline void begin_search(struct stack_walk* walk, u32 low, u32 high) {
    walk->low = low;
    walk->high = high;
}

static __always_inline void narrow_search(struct stack_walk* walk, u32 middle, bool is_behind) {
    if (is_behind)
        walk->low = middle + 1;
    else
        walk->high = middle;
}

// Finds the mapping that walk->code lies in. 0: there is none.
__noinline int find_mapping(struct stack_walk* walk) {
    const struct wire_unwind_mapping* mapping;
    struct block_cursor cursor = {};
    u64 code, *cell;
    u32 first;

    if (!walk)
        return 0;
    code = walk->code;
    first = walk->process.cell;
    begin_search(walk, 0, walk->process.mappings);
    // The first mapping behind the address; the one before it is the one, or there is none.
    for (u32 i = 0; i < LOG2_MAPPINGS && walk->low < walk->high; i++) {
        u32 middle = (walk->low + walk->high) / 2;

        cell = cell_at(&cursor, first + CELLS_OF_MAPPING * middle);
        narrow_search(walk, middle, cell && *cell <= code);
    }
    if (!walk->low)
        return 0;
    // It does not reach into the next block.
    first += CELLS_OF_MAPPING * (walk->low - 1);
    cell = cell_at(&cursor, first & -CELLS_OF_MAPPING);
    mapping = (void*)cell;
    if (!mapping || code < mapping->start || code >= mapping->end)
        return 0;
    walk->mapping = *mapping;
    return 1;
}

static __always_inline bool is_in_mapping(const struct stack_walk* walk) {
    return walk->code - walk->mapping.start < walk->mapping.end - walk->mapping.start;
}

// Finds the rule for walk->code in its mapping's table. Returns the table's wire_unwind_state; the
// rule's kind is WIRE_CFA_NONE when it does not cover the address.
static __always_inline int find_rule(struct stack_walk* walk) {
    u32 table_number, state, page, in_page, row = 0;
    const struct wire_unwind_rule* rule;
    struct block_cursor cursor = {};
    struct wire_unwind_table* table;
    bool found = false;
    u64 relative;

    walk->rule.cfa = WIRE_CFA_NONE;
    table_number = walk->mapping.table;
    if (walk->mapping.kind != WIRE_MAPPING_FILE && walk->mapping.kind != WIRE_MAPPING_V8_FILE)
        return WIRE_UNWIND_ABSENT;
    table = bpf_map_lookup_elem(&unwind_tables, &table_number);
    if (!table)
        return WIRE_UNWIND_ABSENT;
    // The rest is written before.
    state = load_acquire(&table->state);
    if (state != WIRE_UNWIND_READY)
        return state;
    relative = walk->code - walk->mapping.bias;
    if (relative >> WIRE_UNWIND_PAGE_BITS >= table->pages)
        return WIRE_UNWIND_READY;
    page = relative >> WIRE_UNWIND_PAGE_BITS;
    in_page = relative & (WIRE_UNWIND_PAGE - 1);
    begin_search(walk, word_at(&cursor, table->page_cell, page, 0),
                 word_at(&cursor, table->page_cell, page + 1, 0));
    cursor.block = NULL;
    for (u32 i = 0; i < LOG2_ROWS_OF_PAGE && walk->low < walk->high; i++) {
        u32 middle = (walk->low + walk->high) / 2;
        u32 at = word_at(&cursor, table->row_cell, middle, ~0U);
        bool is_behind = (at & (WIRE_UNWIND_PAGE - 1)) <= in_page;

        narrow_search(walk, middle, is_behind);
        if (is_behind) {
            row = at;
            found = true;
        }
    }
    // The last row up to the address; it may go on from a page before.
    if (!found) {
        if (!walk->low)
            return WIRE_UNWIND_READY;
        row = word_at(&cursor, table->row_cell, walk->low - 1, 0);
    }
    cursor.block = NULL;
    rule = (void*)cell_at(&cursor, (table->rule_cell & -CELLS_OF_RULE) +
                                       CELLS_OF_RULE * (row >> WIRE_UNWIND_PAGE_BITS));
    if (rule)
        walk->rule = *rule;
    return WIRE_UNWIND_READY;
}

#endif
