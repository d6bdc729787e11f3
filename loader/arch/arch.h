// SPDX-License-Identifier: GPL-3.0-or-later
// The machine's folder: `#include ARCH(machine.h)`. Each has the same files, which declare the same
// names.
#pragma once

#if defined(__x86_64__)
#define ARCH(file) <loader/arch/x86_64/file>
#else
#error "loader/arch has no folder for this machine: see CONTRIBUTING.md, An architecture"
#endif
