/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* PHP's frames in a walk: see frame_chain.h. */
#ifndef AUGER_PHP_H
#define AUGER_PHP_H

#include "unwind.h"

/* Reads the chain of the thread that the walk is of; none when it does not run PHP. */
int read_php_frames(struct stack_walk* walk);

#endif
