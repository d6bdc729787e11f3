// SPDX-License-Identifier: GPL-3.0-or-later
// The end of a command whose parts begin with a keyword and go on as raw text to the next one:
// `if ret < 0 show fd, str(buf)`, `at main.cc:1290 by req->type`. Predicates and expressions among
// them are checked as far as that needs no target.
#pragma once

#include "repl/language/arguments.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct Section {
    std::string_view keyword;
    std::string text; // as written
    Span at;          // of `text`
};

// Reads the rest of the command; no keyword twice.
Parsed<std::vector<Section>> parse_sections(Arguments& arguments,
                                            std::span<const std::string_view> keywords);

// Checks the text of a section; complains at the exact place.
Parsed<std::string> predicate_of(const Section& section);
Parsed<std::string> expression_of(const Section& section);
// Separated by commas.
Parsed<std::vector<std::string>> expressions_of(const Section& section);

} // namespace auger
