// SPDX-License-Identifier: GPL-3.0-or-later
// Where a version of V8 keeps what is read of its frames, functions, scripts and texts.
#pragma once

#include "bpf/wire/v8.h"
#include "loader/base/result.h"
#include "loader/runtimes/v8/v8_file.h"

#include <cstdint>

namespace auger {

// What names need beside. Offsets in bytes, of objects from where they begin.
struct V8Objects {
    uint32_t map_type; // 16 bits
    // Of functions, and of what executes them.
    uint32_t bytecode_length; // a small integer
    uint32_t bytecode_positions;
    uint32_t bytecode_data;
    uint32_t interpreter_data_type;
    uint32_t interpreter_data_bytecode;
    uint32_t code_type;
    uint32_t code_bytecode; // of code that the baseline compiler has made
    uint32_t code_data;     // of code of the optimizing one, an array: what is inlined there, ...
    uint32_t code_positions;
    uint32_t array_length; // of an array of bytes; a small integer
    uint32_t array_data;
    // A ScopeInfo: flags, numbers, then what the flags say is there.
    uint32_t scope_type;
    uint32_t scope_flags; // 32 bits
    uint32_t scope_locals;
    uint32_t scope_variables;         // where what differs begins
    uint32_t scope_begins_with_place; // 1: the function's place stands there; 0: behind its names
    uint32_t scope_module;            // of a module, by the flags' lowest bits
    // A Script.
    uint32_t script_type;
    uint32_t script_source;
    uint32_t script_name;
    uint32_t script_id; // a small integer
    // Strings, which are told by bits of their types.
    uint32_t string_length; // 32 bits
    uint32_t one_byte_characters;
    uint32_t two_byte_characters;
    uint32_t cons_first;
    uint32_t cons_second;
    uint32_t sliced_parent;
    uint32_t sliced_offset; // a small integer
    uint32_t thin_actual;
    uint32_t external_data; // the characters' address
    uint32_t not_string_mask;
    uint32_t representation_mask;
    uint32_t encoding_mask;
    uint32_t one_byte_tag;
    uint32_t cons_tag;
    uint32_t external_tag;
    uint32_t sliced_tag;
    uint32_t thin_tag;
};

struct V8Layout {
    wire_v8 walk;
    V8Objects objects;
};

// Fails, with the version, when it is one that is not known, or when the file does not say where
// things are.
Result<V8Layout> v8_layout(const V8File& file);

} // namespace auger
