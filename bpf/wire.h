/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The contract between the BPF programs and user space: every record of the event ring and every
 * map value, as fixed-width plain data. Both sides read this file; nothing else crosses the border.
 * All times are nanoseconds of CLOCK_MONOTONIC; all addresses are virtual addresses of the process.
 */
#ifndef AUGER_WIRE_H
#define AUGER_WIRE_H

#include "wire/config.h"
#include "wire/contexts.h"
#include "wire/counts.h"
#include "wire/events.h"
#include "wire/gates.h"
#include "wire/histogram.h"
#include "wire/specs.h"
#include "wire/types.h"
#include "wire/values.h"

#endif
