/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Buckets of durations. */
#ifndef AUGER_WIRE_HISTOGRAM_H
#define AUGER_WIRE_HISTOGRAM_H

#include "types.h"

/*
 * Log-linear histogram: values below 64 ns have a bucket each; above, every octave is cut into 64,
 * so that a bucket is at most 1/64 of its value wide and its middle is within 0.8 % of every value
 * in it. The last bucket takes everything from 2^40 ns (18 minutes).
 */
enum wire_histogram {
    WIRE_HIST_SUB_BITS = 6,
    WIRE_HIST_MAX_BITS = 40,
    WIRE_HIST_BUCKETS = ((WIRE_HIST_MAX_BITS - WIRE_HIST_SUB_BITS + 1) << WIRE_HIST_SUB_BITS) + 1,
};

/* The bucket of a duration: used by the tracker, and by user space for its own histograms. */
static inline __wire_u32 wire_histogram_bucket(__wire_u64 value) {
    __wire_u32 log2 = 0;
    __wire_u64 rest = value;

    if (value >> WIRE_HIST_MAX_BITS)
        return WIRE_HIST_BUCKETS - 1;
    if (value < (1u << WIRE_HIST_SUB_BITS))
        return (__wire_u32)value;
    /* Binary search for the highest bit: BPF has no instruction for it. */
    if (rest >> 32) {
        log2 += 32;
        rest >>= 32;
    }
    if (rest >> 16) {
        log2 += 16;
        rest >>= 16;
    }
    if (rest >> 8) {
        log2 += 8;
        rest >>= 8;
    }
    if (rest >> 4) {
        log2 += 4;
        rest >>= 4;
    }
    if (rest >> 2) {
        log2 += 2;
        rest >>= 2;
    }
    log2 += (__wire_u32)(rest >> 1);
    return ((log2 - WIRE_HIST_SUB_BITS + 1) << WIRE_HIST_SUB_BITS) +
           (__wire_u32)((value >> (log2 - WIRE_HIST_SUB_BITS)) & ((1u << WIRE_HIST_SUB_BITS) - 1));
}

#endif
