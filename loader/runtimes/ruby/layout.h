// SPDX-License-Identifier: GPL-3.0-or-later
// Where a version of Ruby keeps what is read of its frames and functions. Changes with minor
// versions of Ruby.
#pragma once

#include "bpf/wire/ruby.h"
#include "loader/base/result.h"
#include "loader/runtimes/layout_table.h"
#include "loader/runtimes/ruby/ruby_file.h"

#include <cstdint>

namespace auger {

// How classes have their names.
enum RubyClassNames : uint32_t {
    ruby_names_unread = 0,     // in a way that is not known here
    ruby_names_variables = 1,  // as an instance variable of the class, in a table
    ruby_names_extensions = 2, // in what follows the class
};

// Offsets in bytes, and what flags say.
struct RubyObjects {
    // In a body: its entries of positions and lines, their number (half a word), the index of
    // positions, the code of the method or file around it.
    uint32_t body_lines, body_line_count, body_line_index, body_outermost;
    uint32_t line_bytes;      // of an entry; it begins with the line
    uint32_t line_is_object;  // 1: where a body begins is an Integer, else half a word
    uint32_t text_has_length; // 1: of a short String, too, else its flags say it
    uint32_t array_mask;      // of a short Array's length, in its flags
    uint32_t class_names;     // RubyClassNames
    uint32_t class_singleton; // flag of a class that is one object's
    uint32_t class_object;    // of ruby_names_extensions: that object, in the class
    uint32_t class_name;      // ... the name
    uint32_t class_has_name;  // ... a byte: 1: the name is one that a program may use
};

struct RubyLayout {
    wire_ruby_layout frames;
    RubyObjects objects;
};

using RubyLayoutTable = LayoutTable<RubyLayout, WIRE_RUBY_LAYOUTS>;

// Fails when Ruby's functions cannot be shown, and says why. The file may claim anything.
Result<RubyLayout> ruby_layout(const RubyFile& file);

} // namespace auger
