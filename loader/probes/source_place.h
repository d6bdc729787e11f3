// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a probe's text that says where in the source: `FILE:LINE` by itself, or behind a
// function (`recv@main.cc:1312`), or any place at all (`recv@*`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

struct SourcePlace {
    std::optional<size_t> at; // position of the `@`; nothing for FILE:LINE by itself
    std::string file;         // empty: any place
    uint32_t line = 0;        // from 1; 0: any place
};

struct SourcePlaceError {
    size_t position; // byte in the text
    std::string cause;
    std::string hint;
};

struct ParsedSourcePlace {
    std::optional<SourcePlace> place; // nothing: the text says nothing of a source
    std::optional<SourcePlaceError> error;
};

// `text` without blanks around it. `separator`: where a library's name ends (the colon), or npos.
ParsedSourcePlace parse_source_place(std::string_view text, size_t separator);

} // namespace auger
