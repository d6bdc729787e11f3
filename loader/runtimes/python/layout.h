// SPDX-License-Identifier: GPL-3.0-or-later
// Where a version of CPython keeps what is read of its frames, functions and texts. Changes with
// each minor version of CPython.
#pragma once

#include "bpf/wire/python.h"
#include "loader/base/result.h"
#include "loader/runtimes/python/python_file.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace auger {

// What a code object's table says the line of an instruction by: see line_table.h.
enum PythonLines : uint32_t {
    python_lines_steps = 0,     // up to 3.9: co_lnotab
    python_lines_ranges = 1,    // 3.10: co_linetable
    python_lines_locations = 2, // since 3.11: co_linetable
};

// Offsets in str and bytes objects. The bits of a str's state are the same in all versions known.
struct PythonObjects {
    uint32_t text_length;
    uint32_t text_state;
    uint32_t text_ascii; // where the characters of one that is ASCII begin, and of the others
    uint32_t text_wide;
    uint32_t bytes_length;
    uint32_t bytes_data;
    uint32_t lines; // PythonLines
};

// Where asyncio, as _asyncio compiles it, keeps what it knows of its tasks.
struct AsyncioOffsets {
    uint32_t task_coroutine; // in a Task
    uint32_t task_name;
    uint32_t future_state;   // in a Future, and so in a Task: an int, 0 while it is pending
    uint32_t thread_running; // in a thread state, the running task; 0: in _current_tasks instead
    // Where tasks are in lists, as there where running ones are known to threads: what links one to
    // the next, and where lists begin, in a thread state and in an interpreter (task_list.cpp).
    uint32_t task_node;
    uint32_t thread_tasks;
    uint32_t interpreter_tasks;

    friend bool operator==(const AsyncioOffsets&, const AsyncioOffsets&) = default;
};

// How objects keep what Python's attributes are named.
enum PythonAttributes : uint32_t {
    python_attributes_behind = 0, // 3.11: the address of their values before the object
    python_attributes_tagged = 1, // 3.12: likewise, with a bit; without it, of a dict
    python_attributes_inline = 2, // since 3.13: in the object, or the address of a dict before it
};

// What the state of a generator is told by, and where what it awaits is.
enum PythonStates : uint32_t {
    python_states_suspended = 0, // 3.11 and 3.12: not by what it gave way, which its code says
    python_states_signed = 1,    // 3.13 and 3.14: below zero until it runs
    python_states_counted = 2,   // since 3.15: from zero on
};

// What a coroutine that waits is followed by.
struct PythonAwaits {
    uint32_t known;               // 0: not of this version, or build
    uint32_t interpreter_modules; // the address of sys.modules
    uint32_t generator_state;     // in a generator: a signed byte, see coroutine_walk.cpp
    uint32_t states;              // PythonStates
    uint32_t frame_stack;         // of a frame, how high its stack is: see stack_is_address
    uint32_t stack_is_address;    // 1: as an address; 0: as a number of words behind frame_locals
    uint32_t frame_locals;        // where a frame's variables begin, and behind them its stack
    uint32_t type_keys;           // in a class, names of its objects' attributes
    uint32_t attributes;          // PythonAttributes
    uint32_t tuple_items;
    AsyncioOffsets asyncio; // all 0: the file of _asyncio says it

    bool has_asyncio() const { return asyncio.task_coroutine != 0; }
};

struct PythonLayout {
    wire_python_layout frames;
    PythonObjects objects;
    PythonAwaits awaits;
};

// Of a version as PY_VERSION_HEX, 0x030b02f0; 0: it is not known. `debug_offsets`: how _PyRuntime
// begins in the file, which may claim anything; up to 3.12 it is not needed.
Result<PythonLayout> python_layout(uint32_t hex_version, std::span<const std::byte> debug_offsets);
// With what else a file says.
Result<PythonLayout> python_layout(const PythonFile& file);

} // namespace auger
