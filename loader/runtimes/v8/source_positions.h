// SPDX-License-Identifier: GPL-3.0-or-later
// Where in a script the bytecodes, or the code, of a function are from: their source position
// table, in the form that V8 has since 10 (src/codegen/source-position-table.cc there).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace auger {

struct V8SourcePosition {
    uint32_t position = 0; // so many characters behind the script's beginning
    // Of code: which one of its inlined functions it is of; nothing: of the function itself.
    std::optional<uint32_t> inlined{};
    friend bool operator==(const V8SourcePosition&, const V8SourcePosition&) = default;
};

// As a table has it, and others. Nothing: it is none.
std::optional<V8SourcePosition> v8_source_position(int64_t raw);
// Of what is at an offset. Nothing: the table does not say. It may hold anything.
std::optional<V8SourcePosition> v8_source_position(std::span<const std::byte> table,
                                                   uint32_t offset);

} // namespace auger
