// SPDX-License-Identifier: GPL-3.0-or-later
// In place of libbpf's header of this name: see bpf_helpers.h. The kernel's structures are our own.
#ifndef AUGER_WALK_BPF_CORE_READ_H
#define AUGER_WALK_BPF_CORE_READ_H

#define bpf_core_field_exists(field) true
#define BPF_CORE_READ_1(from, a) ((from)->a)
#define BPF_CORE_READ_2(from, a, b) ((from)->a->b)
#define BPF_CORE_READ_3(from, a, b, c) ((from)->a->b->c)
#define BPF_CORE_READ_CHOICE(a, b, c, chosen, ...) chosen
#define BPF_CORE_READ(from, ...)                                                                   \
    BPF_CORE_READ_CHOICE(__VA_ARGS__, BPF_CORE_READ_3, BPF_CORE_READ_2, BPF_CORE_READ_1, 0)        \
    (from, __VA_ARGS__)

#endif
