// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Which of a call's values is the key of a span, and what it is there.
#ifndef AUGER_VALUE_KEYS_H
#define AUGER_VALUE_KEYS_H

#include "call_values.h"

// FNV-1a, a word at a time, each folded so that all of its bits have a part in the next.
static __always_inline u64 hash_string(const char* string) {
    const u64* words = (const u64*)string;
    u64 hash = 0xcbf29ce484222325;

    for (u32 i = 0; i < WIRE_STRING / sizeof(u64); i++) {
        hash = (hash ^ words[i]) * 0x100000001b3;
        hash ^= hash >> 32;
    }
    return hash;
}

// Whether the value is the task itself, the trace or span, or a label, and not made of it.
static __always_inline bool is_work_of_thread(const struct wire_fetch* fetch) {
    return (fetch->base == WIRE_BASE_TASK || fetch->base == WIRE_BASE_CONTEXT ||
            fetch->base == WIRE_BASE_GO_LABEL) &&
           !(fetch->flags & WIRE_FETCH_IN_MEMORY);
}

static __always_inline int key_among(const struct wire_call_program* program,
                                     const struct wire_values* own, u64* key) {
    const struct wire_fetch* fetch;
    u32 index;

    if (!program || !own || own->version != program->version || program->label >= WIRE_MAX_VALUES)
        return KEY_UNREADABLE;
    index = program->label & (WIRE_MAX_VALUES - 1);
    fetch = &program->fetch[index];
    *key = fetch->flags & WIRE_FETCH_STRING
               ? hash_string(own->string[fetch->string & (WIRE_MAX_STRINGS - 1)])
               : own->value[index];
    if (!(own->readable >> index & 1))
        return KEY_UNREADABLE;
    return is_work_of_thread(fetch) && !own->value[index] ? KEY_OF_NONE : KEY_KNOWN;
}

#endif
