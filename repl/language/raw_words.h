// SPDX-License-Identifier: GPL-3.0-or-later
// Words of a condition (`only ...`) or an expression (`if ...`), where parentheses group and stick
// to words: "(comm a or not(in ns::f(int)))". The words themselves are read as everywhere else.
#pragma once

#include "repl/language/lexer.h"

#include <vector>

namespace auger {

enum class Grouping {
    tokens, // a parenthesis that begins a word, or ends one it did not begin, is a word of its own
    whole,  // what stands in parentheses belongs to the word
};

// The words of a part of a line that the lexer has passed as sound.
Parsed<std::vector<Word>> raw_words(std::string_view line, Span part, Grouping grouping);

} // namespace auger
