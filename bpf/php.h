/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* PHP's frames in a walk: see frame_chain.h. */
#ifndef AUGER_PHP_H
#define AUGER_PHP_H

#include "unwind.h"

/* Reads the chain of the thread that the walk is of; none when it does not run PHP. */
int read_php_frames(struct stack_walk* walk);

/* Whether the frame at hand is one of execute_ex(), which runs PHP's. */
static __always_inline bool is_in_php_loop(const struct stack_walk* walk) {
    u64 code = walk->exact ? walk->ip : walk->ip - 1;

    return code - walk->php.loop < walk->php.loop_size ||
           code - walk->php.cold < walk->php.cold_size;
}

#endif
