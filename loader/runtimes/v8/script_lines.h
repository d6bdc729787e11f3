// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a script, from its text, which V8 keeps in the process. V8 counts them only when
// somebody asks it.
#pragma once

#include "loader/runtimes/v8/function_reader.h"

#include <cstdint>
#include <variant>
#include <vector>

namespace auger {

struct V8Lines {
    // Of a script without a text, or with one that is too large or not in one piece, nothing.
    bool known = false;
    // Where each line ends: the position of what ends it, ascending. The last one has no such end.
    std::vector<uint32_t> ends{};
};
std::variant<V8Lines, FunctionProblem> read_v8_lines(const ReadMemory& read, const V8Layout& layout,
                                                     const V8Script& script);

// From 1 on, as in messages; 0: not known.
struct V8Place {
    uint32_t line = 0, column = 0;
    friend bool operator==(const V8Place&, const V8Place&) = default;
};
V8Place v8_place(const V8Lines& lines, uint32_t position);

} // namespace auger
