/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The machine's folder: `#include ARCH(calls.h)`. Each has the same files, which declare the same
 * names: README.md. The macros are libbpf's, and stand in the compiler's command.
 */
#ifndef AUGER_ARCH_H
#define AUGER_ARCH_H

#if defined(__TARGET_ARCH_x86)
#define ARCH(file) <arch/x86_64/file>
#else
#error "bpf/arch has no folder for this machine: see CONTRIBUTING.md, An architecture"
#endif

#endif
