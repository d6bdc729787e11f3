/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Where the current thread has a variable of its own. All that is read may be anything: it is the
 * process's. */
#ifndef AUGER_THREAD_VARIABLE_H
#define AUGER_THREAD_VARIABLE_H

#include "user_memory.h"
#include "wire/thread_places.h"

/* glibc's vector of a thread's blocks: entries of two words, of which the first is the block;
 * before the first of them, how many there are. */
enum { THREAD_VECTOR_ENTRY = 16 };
#define NO_THREAD_BLOCK (~0ULL) /* nobody has asked for it yet */

/* `variable` 0: the thread has none yet. False: memory on the way cannot be read. */
static __always_inline bool find_thread_variable(const struct wire_thread_place* place,
                                                 u64* variable) {
    u64 thread = bpf_get_current_task_btf()->THREAD_POINTER, vector, entries, block;

    if (place->way == WIRE_THREAD_STATIC) {
        *variable = thread + place->offset;
        return true;
    }
    *variable = 0;
    if (!read_word(thread + THREAD_VECTOR, &vector) ||
        !read_word(vector - THREAD_VECTOR_ENTRY, &entries))
        return false;
    // The thread has not looked since the library was loaded.
    if (place->module > entries)
        return true;
    if (!read_word(vector + (u64)place->module * THREAD_VECTOR_ENTRY, &block))
        return false;
    if (block && block != NO_THREAD_BLOCK)
        *variable = block + place->offset;
    return true;
}

#endif
