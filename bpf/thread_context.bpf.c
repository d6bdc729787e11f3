// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// What the current thread works for. Functions of their own, verified once each.
#include "thread_context.h"
#include "thread_variable.h"

/*
 * The record up to its attributes: trace id (16 bytes), span id (8), valid (1), flags (1), size of
 * the attributes (2).
 */
enum { RECORD_SIZE = 28, RECORD_IS_VALID = 1 };

// The thread itself writes the record, and is here. It may have handed it to another one all the
// same, so what is read twice must be the same.
static __always_inline bool read_record_twice(u64 record, u64* words, u64* again) {
    words[CONTEXT_STATUS] = again[CONTEXT_STATUS] = 0;
    if (bpf_probe_read_user(words, RECORD_SIZE, (void*)record))
        return false;
    barrier();
    if (bpf_probe_read_user(again, RECORD_SIZE, (void*)record))
        return false;
    return !((words[0] ^ again[0]) | (words[1] ^ again[1]) | (words[2] ^ again[2]) |
             (words[3] ^ again[3]));
}

static __always_inline u64 read_context(struct probe_registers* registers,
                                        const struct wire_thread_place* place) {
    u64* words = &registers->value[REGISTER_CONTEXT];
    u64 variable, record;

    if (!find_thread_variable(place, &variable))
        return CONTEXT_UNREADABLE;
    if (!variable)
        return CONTEXT_NONE;
    if (!read_word(variable, &record))
        return CONTEXT_UNREADABLE;
    if (!record)
        return CONTEXT_NONE;
    if (!read_record_twice(record, words, &registers->value[REGISTER_CONTEXT_AGAIN]))
        return CONTEXT_UNREADABLE;
    // It is being written just now, or the thread works for nothing. One id without the other is
    // none.
    if ((u8)words[CONTEXT_STATUS] != RECORD_IS_VALID ||
        !(words[CONTEXT_TRACE] | words[CONTEXT_TRACE + 1]) || !words[CONTEXT_SPAN])
        return CONTEXT_NONE;
    return CONTEXT_PRESENT;
}

__noinline int note_context(struct probe_registers* registers) {
    u32 tgid = bpf_get_current_pid_tgid() >> 32;
    const struct wire_thread_place* place = bpf_map_lookup_elem(&thread_contexts, &tgid);
    u64 state;

    if (!registers)
        return 0;
    state = place ? read_context(registers, place) : CONTEXT_NONE;
    registers->value[REGISTER_CONTEXT_STATE] = state;
    registers->value[REGISTER_SPAN_ID] =
        state == CONTEXT_PRESENT
            ? __builtin_bswap64(registers->value[REGISTER_CONTEXT + CONTEXT_SPAN])
            : 0;
    if (state == CONTEXT_UNREADABLE)
        count_loss(WIRE_LOSS_CONTEXT);
    return 0;
}

// The bytes' hexadecimal digits, first byte first: each nibble in a byte of its own, then as text.
static __always_inline u64 hex_digits(u32 bytes) {
    u64 nibbles = bytes;

    nibbles = (nibbles | nibbles << 16) & 0x0000ffff0000ffffULL;
    nibbles = (nibbles | nibbles << 8) & 0x00ff00ff00ff00ffULL;
    nibbles = (nibbles >> 4 & 0x000f000f000f000fULL) | (nibbles & 0x000f000f000f000fULL) << 8;
    // 10 and more, to which 6 is added, have the next bit: they are letters.
    return nibbles + 0x3030303030303030ULL +
           ((nibbles + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL) * ('a' - '0' - 10);
}

__noinline int fetch_trace(const struct probe_registers* registers, const struct wire_fetch* fetch,
                           struct wire_values* values, u32 index) {
    const u64* words;
    u64* digits;
    u64 state;

    if (!registers || !fetch || !values)
        return 0;
    words = &registers->value[REGISTER_CONTEXT];
    state = registers->value[REGISTER_CONTEXT_STATE];
    digits = (u64*)values->string[fetch->string & (WIRE_MAX_STRINGS - 1)];
    // What lies behind the NUL is compared, too.
    __builtin_memset(digits, 0, WIRE_STRING);
    if (state == CONTEXT_PRESENT) {
        digits[0] = hex_digits((u32)words[CONTEXT_TRACE]);
        digits[1] = hex_digits((u32)(words[CONTEXT_TRACE] >> 32));
        digits[2] = hex_digits((u32)words[CONTEXT_TRACE + 1]);
        digits[3] = hex_digits((u32)(words[CONTEXT_TRACE + 1] >> 32));
    }
    values->value[index & (WIRE_MAX_VALUES - 1)] = state == CONTEXT_PRESENT;
    if (state != CONTEXT_UNREADABLE)
        values->readable |= 1u << (index & (WIRE_MAX_VALUES - 1));
    return 0;
}
