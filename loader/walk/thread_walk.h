// SPDX-License-Identifier: GPL-3.0-or-later
// The walk of a user stack that the programs do in the kernel (bpf/unwind.bpf.c), with those of
// runtimes, compiled for user space: of a thread that waits, whose registers, memory and tables
// somebody else reads. What comes of it is what a sample of that thread would have, as far as all
// return probes on its stack are known.
#ifndef AUGER_THREAD_WALK_H
#define AUGER_THREAD_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A return address that a return probe has replaced: where it lies, and what stood there.
struct walked_return {
    uint64_t slot;
    uint64_t address;
};

struct walked_thread {
    uint32_t pid;
    uint32_t tid;
    // Those that it had in user mode: as DWARF counts, then the address of the next instruction.
    const uint64_t* registers;
    bool compat; // it runs a 32-bit program
    uint64_t thread_pointer;
    // The last one that a probe replaced first.
    const struct walked_return* returns;
    size_t return_count;
};

// The maps of the programs that walks read.
enum walk_map {
    WALK_PROCESSES,
    WALK_TABLES,
    WALK_SHARDS, // of cells: by their number, the first cell of one
    WALK_PYTHON_LAYOUTS,
    WALK_HOTSPOT_PROCESSES,
    WALK_V8_LAYOUTS,
    WALK_PHP_LAYOUTS,
    WALK_RUBY_LAYOUTS,
    WALK_PERL_LAYOUTS,
    WALK_MAPS,
};

struct walk_source {
    void* owner;
    // The value of a key; it stays until the same map is asked again. NULL: there is none.
    const void* (*look_up)(void* owner, enum walk_map map, uint32_t key);
    // Reads the process's memory, all of it or nothing.
    bool (*read)(void* owner, uint64_t address, void* bytes, size_t size);
};

// Writes the stack as of bpf/unwind_table.h, leaf first, and returns how many words it has: at most
// WIRE_STACK_WORDS, for which there must be room. 0: there is no memory for it.
size_t walk_thread(const struct walked_thread* thread, const struct walk_source* source,
                   uint64_t* words);

#ifdef __cplusplus
}
#endif

#endif
