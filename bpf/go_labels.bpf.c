// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Labels of goroutines: in a stack, and as values of calls. Functions of their own, verified once.
#include "go_labels.h"
#include "call_values.h"
#include "go_thread.h"
#include "maps.h"
#include "unwind.h"
#include "user_memory.h"

enum {
    GO_STRING = 16, /* bytes: address and length */
    /* A map that has no more labels than fit has one bucket: a byte for each, the keys, the values.
     */
    GO_MAP_BUCKETS = 1, /* word of the map's header with the logarithm of their number at bit 8 */
    GO_BUCKET_KEYS = WIRE_GO_LABELS_OF_MAP,
    GO_BUCKET_VALUES = GO_BUCKET_KEYS + WIRE_GO_LABELS_OF_MAP * GO_STRING,
};

static __always_inline bool read_words(struct go_label_search* search, u32 bytes, u64 address) {
    return !bpf_probe_read_user(search->words, bytes, (void*)address);
}

// From the address of a map's variable: the map has its number of elements, how many buckets it
// has, and where.
static __always_inline int find_labels_of_map(struct go_label_search* search, u64 variable) {
    u64 map;

    if (!read_word(variable, &map))
        return GO_LABEL_UNREADABLE;
    if (!map)
        return GO_LABEL_NONE;
    if (!read_words(search, sizeof(search->words), map))
        return GO_LABEL_UNREADABLE;
    if (!search->words[0])
        return GO_LABEL_NONE;
    if (search->words[GO_MAP_BUCKETS] >> 8 & 0xff)
        return GO_LABEL_UNREADABLE; // they are too many
    search->keys = search->words[2] + GO_BUCKET_KEYS;
    search->values = search->words[2] + GO_BUCKET_VALUES;
    search->distance = GO_STRING;
    search->count = WIRE_GO_LABELS_OF_MAP; // places without a label have empty keys
    return GO_LABEL_FOUND;
}

static __always_inline int find_labels_of_list(struct go_label_search* search, u64 slice) {
    if (!read_words(search, GO_STRING, slice))
        return GO_LABEL_UNREADABLE;
    search->keys = search->words[0];
    search->values = search->words[0] + GO_STRING;
    search->distance = 2 * GO_STRING;
    search->count = search->words[1];
    return search->count ? GO_LABEL_FOUND : GO_LABEL_NONE;
}

static __always_inline bool is_wanted_key(const struct go_label_search* search) {
    const u64 *seen = (const u64*)search->seen, *wanted = (const u64*)search->text;
    u64 difference = 0;

    for (u32 i = 0; i < WIRE_GO_LABEL_KEY / sizeof(u64); i++)
        difference |= seen[i] ^ wanted[i];
    return !difference;
}

// One of them.
__noinline int look_at_go_label(struct go_label_search* search, u32 index) {
    u32 size;

    if (!search)
        return GO_LABEL_UNREADABLE;
    if (!read_words(search, GO_STRING, search->keys + index * search->distance))
        return GO_LABEL_UNREADABLE;
    size = search->key_size;
    if (search->words[1] != size || size > WIRE_GO_LABEL_KEY)
        return GO_LABEL_NONE;
    __builtin_memset(search->seen, 0, sizeof(search->seen));
    if (bpf_probe_read_user(search->seen, size, (void*)search->words[0]))
        return GO_LABEL_UNREADABLE;
    if (!is_wanted_key(search))
        return GO_LABEL_NONE;
    if (!read_words(search, GO_STRING, search->values + index * search->distance))
        return GO_LABEL_UNREADABLE;
    search->size = search->words[1] < WIRE_STRING ? search->words[1] : WIRE_STRING - 1;
    // Read anew, so that the verifier knows the bounds of what is read.
    size = search->size & (WIRE_STRING - 1);
    if (bpf_probe_read_user(search->text + GO_LABEL_TEXT, size, (void*)search->words[0]))
        return GO_LABEL_UNREADABLE;
    return GO_LABEL_FOUND;
}

__noinline int find_go_label(struct go_label_search* search, u64 g) {
    int found = GO_LABEL_NONE;
    u64 labels;

    if (!search)
        return GO_LABEL_UNREADABLE;
    __builtin_memset(search->text + GO_LABEL_TEXT, 0, WIRE_STRING);
    if (!g)
        return GO_LABEL_NONE;
    if (!read_word(g + search->place.g_labels, &labels))
        return GO_LABEL_UNREADABLE;
    if (!labels)
        return GO_LABEL_NONE;
    found = search->place.form == WIRE_GO_LABELS_LIST ? find_labels_of_list(search, labels)
                                                      : find_labels_of_map(search, labels);
    if (found != GO_LABEL_FOUND)
        return found;
    found = GO_LABEL_NONE;
    for (u32 i = 0; i < WIRE_GO_LABELS_OF_LIST && found == GO_LABEL_NONE; i++) {
        if (i >= search->count)
            return GO_LABEL_NONE;
        found = look_at_go_label(search, i);
    }
    // Behind those that were looked at it may be.
    return found == GO_LABEL_NONE && search->count > WIRE_GO_LABELS_OF_LIST ? GO_LABEL_UNREADABLE
                                                                            : found;
}

static __always_inline int find_own_go_label(struct go_label_search* search) {
    u64 g;

    return find_own_goroutine(&search->place, &g) ? find_go_label(search, g) : GO_LABEL_UNREADABLE;
}

__noinline int fetch_go_label(struct probe_registers* registers, const struct wire_fetch* fetch,
                              struct wire_values* values, u32 index) {
    u32 pid = bpf_get_current_pid_tgid() >> 32;
    const struct wire_unwind_process* process = bpf_map_lookup_elem(&unwind_processes, &pid);
    int found = GO_LABEL_UNREADABLE;
    struct go_label_search* search;
    char* string;

    if (!registers || !fetch || !values)
        return 0;
    search = &registers->label;
    string = values->string[fetch->string & (WIRE_MAX_STRINGS - 1)];
    // What lies behind the NUL is compared, too.
    __builtin_memset(string, 0, WIRE_STRING);
    if (process && process->go.form) {
        search->place = process->go;
        search->key_size = fetch->size;
        __builtin_memcpy(search->text, fetch->key, WIRE_GO_LABEL_KEY);
        found = find_own_go_label(search);
    }
    if (found == GO_LABEL_FOUND)
        __builtin_memcpy(string, search->text + GO_LABEL_TEXT, WIRE_STRING);
    values->value[index & (WIRE_MAX_VALUES - 1)] = found == GO_LABEL_FOUND;
    if (found != GO_LABEL_UNREADABLE)
        values->readable |= 1u << (index & (WIRE_MAX_VALUES - 1));
    return 0;
}

static __always_inline void add_label_words(struct stack_walk* walk, u64 number, u64 text) {
    u32 to = *(volatile u32*)&walk->count;

    // With room for the word that says why a stack is cut.
    if (to >= WIRE_STACK_WORDS - 2)
        return;
    walk->frames[to] = WIRE_FRAME_GO_LABEL | number;
    walk->frames[to + 1] = text;
    walk->count = to + 2;
}

// Some bytes of the key and the label.
__noinline int add_label_piece(struct stack_walk* walk, u32 number) {
    u64 piece = 0;

    if (!walk || number >= WIRE_GO_LABEL_PAIRS)
        return 0;
    for (u32 i = 0; i < WIRE_GO_LABEL_BYTES; i++)
        piece |= (u64)(u8)walk->label.text[number * WIRE_GO_LABEL_BYTES + i] << 8 * i;
    if (piece)
        add_label_words(walk, number + 1, piece);
    return 0;
}

__noinline int add_go_label(struct stack_walk* walk) {
    u32 key = (*(volatile u32*)&config.go_label - 1) & 1;
    int found;

    if (!walk || !walk->process.go.form)
        return 0;
    walk->label.place = walk->process.go;
    walk->label.key_size = config.go_label_key[key].size;
    __builtin_memcpy(walk->label.text, config.go_label_key[key].text, WIRE_GO_LABEL_KEY);
    found = walk->parked_g ? find_go_label(&walk->label, walk->parked_g)
                           : find_own_go_label(&walk->label);
    if (found == GO_LABEL_NONE)
        return 0;
    for (u32 i = 0; i < WIRE_GO_LABEL_VALUE; i++)
        add_label_piece(walk, i);
    if (found == GO_LABEL_UNREADABLE)
        add_label_words(walk, WIRE_GO_LABEL_UNREADABLE, 0);
    else
        for (u32 i = WIRE_GO_LABEL_VALUE; i < WIRE_GO_LABEL_PAIRS; i++)
            add_label_piece(walk, i);
    return 0;
}
