/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Perl's frames in a walk: see frame_chain.h. */
#ifndef AUGER_PERL_H
#define AUGER_PERL_H

#include "unwind.h"

/* Reads the chain of the thread that the walk is of; none when it does not run Perl. */
int read_perl_frames(struct stack_walk* walk);

#endif
