// SPDX-License-Identifier: GPL-3.0-or-later
// GoTableLayout: where the parts of Go's table of functions lie, and how a function is described in
// it, which has changed with Go's versions. Hostile like all content of files: what lies outside
// the table is empty, or zero.
#pragma once

#include "loader/base/number_at.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace auger {

// Empty when there is no end, or the text is longer than names are.
std::string_view text_at(std::span<const std::byte> bytes, uint64_t offset);

struct GoTableLayout {
    using Bytes = std::span<const std::byte>;

    Bytes names, programs, functions;
    // Since Go 1.16: by compilation unit and number where a file's name lies, and the names.
    Bytes units, files;
    uint64_t count = 0;    // of functions
    uint64_t text = 0;     // what the functions' addresses are counted from
    uint64_t names_at = 0; // of `names` in the table, as of the following
    uint64_t units_at = 0;
    uint64_t files_at = 0;
    uint64_t programs_at = 0;
    uint64_t functions_at = 0;
    size_t number = 8;      // bytes of an address in the list of functions
    size_t flags = 0;       // where they stand in a function's description; 0: there are none
    size_t entry_end = 0;   // of the address that begins it
    size_t description = 0; // bytes of its fixed part; 0: it tells no lines
    // Of a call that was inlined: bytes, where its name stands, and where it was called.
    size_t call = 0, call_name = 0, call_parent = 0;

    // Whether a table of a known version seems to begin there.
    static bool begins(Bytes content);
    // `text`: for tables that leave the address of the code to the dynamic linker.
    static std::optional<GoTableLayout> read(Bytes content, uint64_t text);

    bool has_lines() const { return description != 0; }
    // Item `index` of the list of functions: addresses and descriptions in turn.
    uint64_t listed(uint64_t index) const;
    // Of function `index`; goes on to the table's end.
    Bytes function(uint64_t index) const;
    // The program of values that begins there; empty for 0: there is none.
    Bytes program(uint32_t offset) const;
};

// Steps through a program of values: which one holds from which address on, and up to which.
class GoValues {
  public:
    GoValues(std::span<const std::byte> program, uint64_t begin)
        : program_(program), begin_(begin), end_(begin) {}

    // False behind the last value, and where the program is broken.
    bool next();
    uint64_t begin() const { return begin_; }
    uint64_t end() const { return end_; }
    int64_t value() const { return value_; }

  private:
    std::span<const std::byte> program_;
    uint64_t begin_, end_;
    int64_t value_ = -1;
    bool first_ = true;
};

} // namespace auger
