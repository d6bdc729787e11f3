// SPDX-License-Identifier: GPL-3.0-or-later
// Where Go's runtime keeps what a thread is at work for, told from the code of its own function
// that must find the way back to a goroutine. It differs between versions and kinds of linking.
#pragma once

#include "bpf/go_runtime.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/elf/go_table.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace auger {

// Nothing when the file is no program of Go's, or one of a version that does it otherwise.
std::optional<wire_go_runtime> read_go_runtime(const ElfFile& file);

// From where on runtime.systemstack, coming back, is on its goroutine's stack again, with the
// return address at the stack pointer, up to its `ret`. In between the runtime forgets the stack
// pointer that the goroutine had left. Nothing as above.
std::optional<uint64_t> address_back_on_goroutine(const ElfFile& file);

// In a goroutine's descriptor: where the address of its labels stands. By the code of the function
// that sets it: runtime/pprof.runtime_setProfLabel. Nothing before Go 1.17, which keeps it
// elsewhere.
std::optional<uint16_t> go_labels_offset(std::span<const std::byte> setter);

// In a goroutine's descriptor: where its number (goid) stands. By the code of the function that
// changes its status, runtime.casgstatus, by a lock cmpxchg of 32 bits: the number is behind the
// status and another 32 bits (runtime2.go, struct g; Go 1.5 to 1.27).
std::optional<uint16_t> go_id_offset(std::span<const std::byte> status_changer);

// Whether the function gets its arguments, and the goroutine that calls it, in registers: since Go
// 1.17. It is one that looks whether its stack is large enough.
bool has_register_arguments(const ElfFile& file, const GoFunction& function);

// Whether the function at the address was compiled by Go (a program may hold C, too).
bool is_go_code(const ElfFile& file, uint64_t address);

} // namespace auger
