/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* CPython's frames in a walk: its chain of frames is read first, and its pieces are put behind the
 * native frames that run them. */
#ifndef AUGER_PYTHON_H
#define AUGER_PYTHON_H

#include "unwind.h"

/* Reads the chain of the thread that the walk is of; none when it has no frames of Python. */
int read_python_frames(struct stack_walk* walk);

/* Puts the frames that the loop in the native frame at hand runs behind it. */
int place_python_frames(struct stack_walk* walk);

/* Whether there are such; the native frame begins at `from`, and ends at walk->sp. */
static __always_inline bool has_python_frames(const struct stack_walk* walk, u64 from) {
    return walk->python.boundary - from < walk->sp - from;
}

#endif
