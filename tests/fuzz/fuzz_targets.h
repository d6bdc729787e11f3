// SPDX-License-Identifier: GPL-3.0-or-later
// What reads hostile bytes, one function a parser, in the form that libFuzzer calls. Each stops the
// process when a promise is broken; the sanitizers see to the rest. Unit tests call them, too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace auger::test {

// The first byte says which kind of section the others are.
void fuzz_unwind_section(const uint8_t* data, size_t size);
void fuzz_usdt(const uint8_t* data, size_t size);
// What tracefs says of a tracepoint's record.
void fuzz_event_format(const uint8_t* data, size_t size);
// The machine code of a function.
void fuzz_code_frames(const uint8_t* data, size_t size);
// A whole ELF file: its headers, symbols, notes and call frame information.
void fuzz_elf_file(const uint8_t* data, size_t size);
// The table of functions in Go's programs, with lines and inlined calls.
void fuzz_go_table(const uint8_t* data, size_t size);
// The file in which a program tells of its generated code.
void fuzz_perf_map(const uint8_t* data, size_t size);
// The same, as JITs write it for perf.
void fuzz_jit_dump(const uint8_t* data, size_t size);
// An ELF file with debug information: its units, lines, inlined frames and types.
void fuzz_dwarf(const uint8_t* data, size_t size);
// What the process that reads debug information says, and what it is asked.
void fuzz_dwarf_messages(const uint8_t* data, size_t size);
// What a process that reads code answers, and what it is asked.
void fuzz_code_messages(const uint8_t* data, size_t size);
// What a process that reads names answers.
void fuzz_name_messages(const uint8_t* data, size_t size);
// An ELF file that tells where its symbols are: packed into it, or in a file of their own.
void fuzz_debug_files(const uint8_t* data, size_t size);
// What a receiver of profiles answers, and what the process says that asks it.
void fuzz_http_answer(const uint8_t* data, size_t size);
// A function's name.
void fuzz_demangle(const uint8_t* data, size_t size);
// What a user writes of a call's values.
void fuzz_expression(const uint8_t* data, size_t size);
// What a file and a process claim of CPython: layout, functions and lines.
void fuzz_python(const uint8_t* data, size_t size);
// What a file and a process claim of PHP: its code and functions.
void fuzz_php(const uint8_t* data, size_t size);
// What a file and a process claim of Ruby: its methods, their classes and lines.
void fuzz_ruby(const uint8_t* data, size_t size);
// What a file and a process claim of Perl: its code, subs and statements; and its stacks.
void fuzz_perl(const uint8_t* data, size_t size);
// What a process claims of its HotSpot: tables, code, methods and lines.
void fuzz_hotspot(const uint8_t* data, size_t size);
// What a process claims of its stack, to the walk that the programs do in the kernel.
void fuzz_walk(const uint8_t* data, size_t size);
// What a file and a process claim of V8: layout, functions, scripts and lines.
void fuzz_v8(const uint8_t* data, size_t size);
// The records of a recording.
void fuzz_recording(const uint8_t* data, size_t size);
// Its index, and where that is said to be.
void fuzz_recording_index(const uint8_t* data, size_t size);
// What an agent says to a console, what it is asked, and hosts as a user names them.
void fuzz_remote(const uint8_t* data, size_t size);
// What /proc says of a process: its mappings, state and control group.
void fuzz_process_text(const uint8_t* data, size_t size);

} // namespace auger::test
