// SPDX-License-Identifier: GPL-3.0-or-later
// Which statement an op is part of: for the first one in a block Perl often executes none, so that
// the one around the block stays the current one. Perl's own messages and caller() look for it in
// the tree of ops (closest_cop()), which lies in the process's memory.
#pragma once

#include "loader/runtimes/bounded_memory.h"
#include "loader/runtimes/perl/layout.h"

#include <cstdint>

namespace auger {

// Addresses. `cop`: the statement that is current; `op`: executed, or with `is_next` the one that
// is behind that. What is not found, or cannot be read, is of `cop` itself.
uint64_t closest_statement(BoundedMemory& memory, const PerlOps& ops, uint64_t cop, uint64_t op,
                           bool is_next);

} // namespace auger
