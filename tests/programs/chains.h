// SPDX-License-Identifier: GPL-3.0-or-later
// What the program `chains` and those who check what was seen of it agree on.
#ifndef AUGER_TESTS_PROGRAMS_CHAINS_H
#define AUGER_TESTS_PROGRAMS_CHAINS_H

#include <stdint.h>

enum {
    CHAIN_SHAPES = 9,
    CHAIN_PLAIN_SHAPES = 7, // the first ones: those that stay within the program
    CHAIN_EPISODES = 1 << 20,
};

// From `start_ns` of CLOCK_MONOTONIC on, until the next one, the program was in the chain of
// `seed`.
struct chain_episode {
    uint64_t start_ns;
    uint64_t seed;
};

struct chain_account {
    uint64_t count;
    struct chain_episode episode[CHAIN_EPISODES];
};

static inline uint64_t chain_mix(uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

// One in eight is deep, of shapes that take one frame each.
static inline int chain_is_deep(uint64_t seed) {
    return seed % 8 == 0;
}
static inline unsigned chain_depth(uint64_t seed) {
    return chain_is_deep(seed) ? 60 + (unsigned)(seed >> 8) % 50 : 1 + (unsigned)(seed >> 8) % 12;
}
static inline unsigned chain_shape(uint64_t seed, unsigned depth, unsigned shapes) {
    return (unsigned)(chain_mix(seed + depth) % (chain_is_deep(seed) ? 6 : shapes));
}

static const char* const chain_shape_names[CHAIN_SHAPES] = {
    "shape_plain",     "shape_alloca",           "shape_large_frame",
    "shape_realigned", "shape_realigned_alloca", "shape_registers",
    "shape_arguments", "shape_callback",         "shape_signal",
};

#endif
