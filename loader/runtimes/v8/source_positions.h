// SPDX-License-Identifier: GPL-3.0-or-later
// Where in a script the bytecodes of a function are from: its source position table, in the form
// that V8 has since 10 (src/codegen/source-position-table.cc there).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace auger {

// Of the bytecode at an offset: so many characters behind the script's beginning. Nothing: the
// table does not say. It may hold anything.
std::optional<uint32_t> v8_source_position(std::span<const std::byte> table, uint32_t offset);

} // namespace auger
