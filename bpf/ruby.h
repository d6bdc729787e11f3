/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Ruby's frames in a walk: see frame_chain.h, and wire/ruby.h for where they go. */
#ifndef AUGER_RUBY_H
#define AUGER_RUBY_H

#include "unwind.h"

/* Reads the chain of the thread that the walk is of; none when it does not run Ruby. */
int read_ruby_frames(struct stack_walk* walk);

#endif
